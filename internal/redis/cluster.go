// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// cluster is one that is watched.
type cluster struct {
	*Prober
	key       types.NamespacedName
	poked     chan struct{}
	forgotten chan struct{}
	looks     looks               // only of the goroutine that looks
	last      map[Node]NodeStatus // likewise: what remember leaves to the next look
	moves     moves

	// step is held while one is taken: there is one at a time.
	step sync.Mutex

	mu     sync.Mutex
	target Target
	line   *line
	ended  bool
	view   *View
	// steps counts the beginnings and the ends of steps: it is odd while one is taken.
	steps int
}

func newCluster(p *Prober, key types.NamespacedName, target Target) *cluster {
	return &cluster{Prober: p, key: key, target: target, poked: make(chan struct{}, 1), forgotten: make(chan struct{})}
}

// run looks until the context ends or the cluster is forgotten.
func (c *cluster) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.running.Go(func() {
		select {
		case <-c.forgotten:
			cancel()
		case <-ctx.Done():
		}
	})
	defer c.hangUp()
	defer c.stopMove()
	for ctx.Err() == nil {
		steps := c.begun()
		view := c.look(ctx)
		if ctx.Err() != nil {
			return // what was seen while everything was ended means nothing
		}
		if c.publish(view, steps) {
			c.changed(ctx, c.key)
		}
		c.rest(ctx)
	}
}

// rest waits until it is time for the next look.
func (c *cluster) rest(ctx context.Context) {
	view, _ := c.seen()
	timer := c.clock.NewTimer(c.interval(view))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.poked:
	case <-ctx.Done():
	}
}

func (c *cluster) wake() {
	select {
	case c.poked <- struct{}{}:
	default: // it is awake
	}
}

func (c *cluster) aim(target Target) {
	c.mu.Lock()
	changed := !same(c.target, target)
	c.target = target
	c.mu.Unlock()
	if changed {
		c.wake()
	}
}

func (c *cluster) aimed() Target {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

func same(a, b Target) bool {
	return a.Generation == b.Generation && slices.Equal(a.Nodes, b.Nodes)
}

func (c *cluster) seen() (View, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil {
		return View{}, false
	}
	return *c.view, true
}

// begun counts the steps there have been when a look begins.
func (c *cluster) begun() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps
}

// publish replaces the View, and tells whether that matters to anybody.
func (c *cluster) publish(view View, steps int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.view
	view.Stale = steps%2 == 1 || steps != c.steps
	view.Passing = view.passing(before)
	c.view = &view
	return before == nil || !alike(*before, view)
}
