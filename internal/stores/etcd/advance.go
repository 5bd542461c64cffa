// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"sync"
	"time"
)

const (
	// abreast is how many requests for log entries are sent concurrently. Members write many entries with one sync of
	// the disk, and refuse clients only from 5000 pending requests on.
	abreast = 128
	// inTime is how long before the deadline of a step the last requests are sent, so that pending requests can still
	// complete.
	inTime = 700 * time.Millisecond
)

// Advance makes members write log entries: each request to list the alarms is recorded in the log. The request changes
// no data and needs no special permission.
func (r *remote) Advance(ctx context.Context, entries uint64) error {
	c, err := r.stepper(ctx)
	if err != nil {
		return err
	}
	begin, cancel := context.WithCancel(ctx)
	if until, ok := ctx.Deadline(); ok {
		begin, cancel = context.WithDeadline(ctx, until.Add(-inTime))
	}
	defer cancel()
	passed, err := abreastOf(begin, entries, func() error {
		_, err := c.maintenance.AlarmList(ctx)
		return err
	})
	if passed > 0 {
		return nil
	}
	return typed(err)
}

// abreastOf calls a function up to n times, several calls concurrently, until the context ends or a call fails. It
// returns how many calls succeeded, and the first failure.
func abreastOf(ctx context.Context, n uint64, call func() error) (passed uint64, failed error) {
	var running sync.WaitGroup
	var mu sync.Mutex
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 || failed != nil || ctx.Err() != nil {
			return false
		}
		n--
		return true
	}
	ended := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			passed++
		case failed == nil:
			failed = err
		}
	}
	for range min(abreast, n) {
		running.Go(func() {
			for more() {
				ended(call())
			}
		})
	}
	running.Wait()
	if passed == 0 && failed == nil {
		failed = ctx.Err()
	}
	return passed, failed
}
