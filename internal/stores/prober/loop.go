// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
)

// run reads the cluster until the context ends or the prober forgets the cluster.
func (c *Cluster[T, V, S]) run(ctx context.Context) {
	ctx, cancel := c.whileWatched(ctx)
	defer cancel()
	defer c.close()
	defer c.looker.End()
	for ctx.Err() == nil {
		before, steps := c.begun()
		view := c.look(ctx, before)
		if ctx.Err() != nil {
			return // the result of an interrupted read is not used
		}
		if c.publish(view, steps) {
			c.changed(ctx, c.key)
		}
		c.rest(ctx)
	}
}

// look reads the cluster. A panic, such as on a malformed response, becomes the error of this cluster's view.
func (c *Cluster[T, V, S]) look(ctx context.Context, before V) (view V) {
	defer func() {
		if cause := recover(); cause != nil {
			view = c.source.Failed(before, fmt.Errorf("the read failed: %v", cause))
		}
	}()
	return c.looker.Look(ctx, before)
}

// rest waits until the next read is due.
func (c *Cluster[T, V, S]) rest(ctx context.Context) {
	view, _ := c.seen()
	timer := c.clock.NewTimer(c.source.Interval(view))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.poked:
	case <-ctx.Done():
	}
}

// begun returns what a read needs at its start: the view of the previous read, and the count of steps.
func (c *Cluster[T, V, S]) begun() (V, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	view, _ := c.last()
	return view, c.steps
}

// publish stores the view of a new read, and reports whether it differs from the previous view in a way that matters to
// a controller.
func (c *Cluster[T, V, S]) publish(view V, steps int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.view
	c.view = &view
	c.mark(steps%2 == 1 || steps != c.steps)
	return before == nil || !c.source.Alike(*before, *c.view)
}
