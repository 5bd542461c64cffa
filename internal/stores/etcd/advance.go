// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"sync"
	"time"
)

const (
	// abreast is how many entries are under way at a time: members write many with each sync of their disks, and refuse clients
	// only from 5000 on.
	abreast = 128
	// inTime is left of a step when no more entries are begun, for those under way.
	inTime = 700 * time.Millisecond
)

// Advance asks for the alarms: that is recorded in the log, changes nothing, and needs no special right.
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

// abreastOf makes up to n calls, some at a time, until the context ends or one fails. It returns how many succeeded, and the
// first failure.
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
