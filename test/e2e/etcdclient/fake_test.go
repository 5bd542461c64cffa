// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// fake is a fake etcd cluster in memory. A test can make it misbehave through the functions below.
type fake struct {
	mu       sync.Mutex
	revision int64
	values   map[string]Event
	log      []Event
	asked    atomic.Int64

	// forget returns true if the cluster must acknowledge the write with this revision without executing it.
	forget func(revision int64) bool
	// stale returns true if a read must return the previous value.
	stale func(asked int64) bool
	// hide returns true if watches must not receive the write with this revision.
	hide func(revision int64) bool
	// fail returns the error with which a request must fail, or nil. done is true if the cluster executes the request
	// anyway.
	fail func(asked int64) (err error, done bool)

	before map[string]Event
}

func newFake() *fake {
	never := func(int64) bool { return false }
	return &fake{
		revision: 1, values: map[string]Event{}, before: map[string]Event{}, forget: never, stale: never, hide: never,
		fail: func(int64) (error, bool) { return nil, true },
	}
}

func (f *fake) Get(_ context.Context, key string) (Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err, _ := f.fail(f.asked.Add(1)); err != nil {
		return Answer{}, err
	}
	e := f.values[key]
	if f.stale(f.asked.Load()) {
		e = f.before[key]
	}
	return Answer{Value: e.Value, ModRevision: e.Revision, Revision: f.revision, Cluster: 1}, nil
}

func (f *fake) Put(_ context.Context, key, value string) (Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, done := f.fail(f.asked.Add(1))
	if done {
		f.write(key, value)
	}
	return Answer{Revision: f.revision, Cluster: 1}, err
}

func (f *fake) Swap(_ context.Context, key, expect, value string) (Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, done := f.fail(f.asked.Add(1))
	now := f.values[key]
	if now.Value != expect {
		return Answer{Value: now.Value, ModRevision: now.Revision, Revision: f.revision, Cluster: 1}, err
	}
	if done {
		f.write(key, value)
	}
	return Answer{Swapped: true, Revision: f.revision, Cluster: 1}, err
}

func (f *fake) write(key, value string) {
	f.revision++
	if f.forget(f.revision) {
		return
	}
	e := Event{f.revision, key, value}
	f.before[key], f.values[key], f.log = f.values[key], e, append(f.log, e)
}

func (f *fake) Watch(ctx context.Context, prefix string, from int64, tell func(...Event)) error {
	for ctx.Err() == nil {
		f.mu.Lock()
		log := f.log
		f.mu.Unlock()
		for _, e := range log {
			if e.Revision >= from && strings.HasPrefix(e.Key, prefix) {
				if !f.hide(e.Revision) {
					tell(e)
				}
				from = e.Revision + 1
			}
		}
		pause(ctx, time.Millisecond)
	}
	return ctx.Err()
}

func (f *fake) Members(context.Context) ([]string, error) { return []string{"a", "b"}, nil }

func (f *fake) Close() error { return nil }

var errPlanted = errors.New("planted")
