// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
)

// Use returns the store of the current target. The caller calls done after use.
func (c *Cluster[T, V, S]) Use() (store S, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var none S
	if c.ended {
		return none, nil, ErrNotWatched
	}
	if c.conn == nil || !c.source.Same(c.conn.target, c.target) {
		store, err := c.source.Dial(c.target)
		if err != nil {
			return none, nil, err
		}
		c.disconnect()
		c.conn = &openStore[T, S]{store: store, target: c.target}
	}
	c.conn.users.Add(1)
	return c.conn.store, c.conn.users.Done, nil
}

// disconnect closes the store once it is no longer used. A membership change that is running when the target changes
// must not be interrupted.
func (c *Cluster[T, V, S]) disconnect() {
	if old := c.conn; old != nil {
		c.conn = nil
		c.Go(func() {
			old.users.Wait()
			_ = old.store.Close() // no call is running
		})
	}
}

func (c *Cluster[T, V, S]) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.disconnect()
}

// do executes a step.
func (c *Cluster[T, V, S]) do(ctx context.Context, step func(context.Context, S) error) error {
	c.step.Lock()
	defer c.step.Unlock()
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	store, done, err := c.Use()
	if err != nil {
		return err
	}
	defer done()
	c.count(1)
	defer c.Wake()
	defer c.count(1)
	return Contained(func() error { return step(ctx, store) })
}

// Contained turns a panic, such as that of a client library over a hostile answer, into an error about this cluster.
func Contained(call func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", ErrPanicked, cause)
		}
	}()
	return call()
}

// Outdate marks the view stale until the next read, which starts at once.
func (c *Cluster[T, V, S]) Outdate() {
	c.count(2)
	c.Wake()
}

// count counts starts and ends of steps. Views from before are stale.
func (c *Cluster[T, V, S]) count(steps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps += steps
	c.mark(true)
}

// mark adds to the view what has happened since the last read: whether it is stale, and the background work. The caller
// holds the lock.
func (c *Cluster[T, V, S]) mark(stale bool) {
	c.stale = stale
	if c.view != nil {
		view := c.source.Mark(*c.view, stale, c.work)
		c.view = &view
	}
}
