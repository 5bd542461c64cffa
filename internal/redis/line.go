// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"sync"
)

// line is an open store.
type line struct {
	Store
	target Target
	users  sync.WaitGroup
}

// use gives out the store of the current target until done is called.
func (c *cluster) use() (store Store, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, nil, ErrNotWatched
	}
	if c.line == nil || !same(c.line.target, c.target) {
		store, err := c.dial(c.target)
		if err != nil {
			return nil, nil, err
		}
		c.drop()
		c.line = &line{Store: store, target: c.target}
	}
	c.line.users.Add(1)
	return c.line.Store, c.line.users.Done, nil
}

// drop closes the store once nobody uses it: what is under way when the target changes is
// not to be cut off.
func (c *cluster) drop() {
	if old := c.line; old != nil {
		c.line = nil
		c.running.Go(func() {
			old.users.Wait()
			_ = old.Close() // nobody waits for its answers
		})
	}
}

func (c *cluster) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.drop()
}

// do takes a step.
func (c *cluster) do(ctx context.Context, step func(context.Context, Store) error) error {
	c.step.Lock()
	defer c.step.Unlock()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	store, done, err := c.use()
	if err != nil {
		return err
	}
	defer done()
	c.stepped()
	defer c.wake()
	defer c.stepped()
	return step(ctx, store)
}

// stepped notes that from here on, what was seen before is old.
func (c *cluster) stepped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps++
	if c.view != nil {
		stale := *c.view
		stale.Stale = true
		c.view = &stale
	}
}
