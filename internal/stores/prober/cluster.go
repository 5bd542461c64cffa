// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Cluster is a cluster that is watched.
type Cluster[T, V any, S Store] struct {
	prober    *Prober[T, V, S]
	key       types.NamespacedName
	poked     chan struct{}
	forgotten chan struct{}
	looker    Looker[V]

	// step is held while a step runs: there is one at a time.
	step sync.Mutex

	mu     sync.Mutex
	target T
	line   *line[T, S]
	ended  bool
	view   *V
	stale  bool // of view
	// steps counts the beginnings and the ends of steps: it is odd while one runs.
	steps int
	// work names what is under way beside the looks; "" for nothing.
	work string
}

func newCluster[T, V any, S Store](p *Prober[T, V, S], key types.NamespacedName, target T) *Cluster[T, V, S] {
	c := &Cluster[T, V, S]{prober: p, key: key, target: target, poked: make(chan struct{}, 1), forgotten: make(chan struct{})}
	c.looker = p.source.Looker(c)
	return c
}

// Looker is what looks at the cluster.
func (c *Cluster[T, V, S]) Looker() Looker[V] { return c.looker }

// Clock is the clock of the prober.
func (c *Cluster[T, V, S]) Clock() clock.WithTicker { return c.prober.clock }

// Target is the last target that was set.
func (c *Cluster[T, V, S]) Target() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

// Wake makes the next look start at once.
func (c *Cluster[T, V, S]) Wake() {
	select {
	case c.poked <- struct{}{}:
	default: // a look is due already
	}
}

// Go runs a function that the end of the prober waits for.
func (c *Cluster[T, V, S]) Go(f func()) { c.prober.running.Go(f) }

// run looks until the context ends or the cluster is forgotten.
func (c *Cluster[T, V, S]) run(ctx context.Context) {
	ctx, cancel := c.whileWatched(ctx)
	defer cancel()
	defer c.hangUp()
	defer c.looker.End()
	for ctx.Err() == nil {
		before, steps := c.begun()
		view := c.look(ctx, before)
		if ctx.Err() != nil {
			return // a look that was cut off shows nothing
		}
		if c.publish(view, steps) {
			c.prober.changed(ctx, c.key)
		}
		c.rest(ctx)
	}
}

// whileWatched is a context that ends when the cluster is forgotten.
func (c *Cluster[T, V, S]) whileWatched(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c.Go(func() {
		select {
		case <-c.forgotten:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// look keeps a panic, such as over a hostile answer, within this cluster.
func (c *Cluster[T, V, S]) look(ctx context.Context, before V) (view V) {
	defer func() {
		if cause := recover(); cause != nil {
			view = c.prober.source.Failed(before, fmt.Errorf("the look failed: %v", cause))
		}
	}()
	return c.looker.Look(ctx, before)
}

// rest waits until the next look is due.
func (c *Cluster[T, V, S]) rest(ctx context.Context) {
	view, _ := c.seen()
	timer := c.prober.clock.NewTimer(c.prober.source.Interval(view))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.poked:
	case <-ctx.Done():
	}
}

func (c *Cluster[T, V, S]) aim(target T) {
	c.mu.Lock()
	changed := !c.prober.source.Same(c.target, target)
	c.target = target
	c.mu.Unlock()
	if changed {
		c.Wake()
	}
}

func (c *Cluster[T, V, S]) seen() (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last()
}

// last is the last view. The lock is held.
func (c *Cluster[T, V, S]) last() (V, bool) {
	if c.view == nil {
		var none V
		return none, false
	}
	return *c.view, true
}

// begun returns the last view, and how many steps there have been when a look begins.
func (c *Cluster[T, V, S]) begun() (V, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	view, _ := c.last()
	return view, c.steps
}

// publish replaces the view, and reports whether it differs in what matters.
func (c *Cluster[T, V, S]) publish(view V, steps int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.view
	c.view = &view
	c.mark(steps%2 == 1 || steps != c.steps)
	return before == nil || !c.prober.source.Alike(*before, *c.view)
}
