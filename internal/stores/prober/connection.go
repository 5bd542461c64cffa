// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
)

// Use returns the store of the current target, and opens it if necessary. The caller calls done after use.
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

// disconnect closes the current store once no call uses it. So a change of the target does not interrupt a running
// call, such as one that changes the members.
func (c *Cluster[T, V, S]) disconnect() {
	if old := c.conn; old != nil {
		c.conn = nil
		c.Go(func() {
			old.users.Wait()
			_ = old.store.Close() // no call is running, so an error does not matter
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

// Contained turns a panic of a call into an error. A client library may panic on a malformed response, which must
// affect only this cluster.
func Contained(call func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", ErrPanicked, cause)
		}
	}()
	return call()
}

// Outdate marks the view as stale and starts the next read at once.
func (c *Cluster[T, V, S]) Outdate() {
	c.count(2)
	c.Wake()
}

// count adds to the number of starts and ends of steps, and marks the current view as stale.
func (c *Cluster[T, V, S]) count(steps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps += steps
	c.mark(true)
}

// mark records in the current view whether it is stale, and which work is running. The caller holds the lock.
func (c *Cluster[T, V, S]) mark(stale bool) {
	c.stale = stale
	if c.view != nil {
		view := c.source.Mark(*c.view, stale, c.work)
		c.view = &view
	}
}
