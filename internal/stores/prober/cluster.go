// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Cluster is a cluster that the prober reads.
type Cluster[T, V any, S Store] struct {
	*shared[T, V, S]
	key       types.NamespacedName
	poked     chan struct{}
	forgotten chan struct{}
	looker    Looker[V]

	// step is locked while a step runs, so that steps run one at a time.
	step sync.Mutex

	mu     sync.Mutex
	target T
	conn   *openStore[T, S]
	ended  bool
	view   *V
	stale  bool // whether the view is older than the last step
	// steps counts both the starts and the ends of steps. It is odd while a step runs.
	steps int
	// work names the work that is running in the background; "" for none.
	work string
}

// openStore is an open store, with a count of the calls that use it.
type openStore[T any, S Store] struct {
	store  S
	target T
	users  sync.WaitGroup
}

func newCluster[T, V any, S Store](s *shared[T, V, S], key types.NamespacedName, target T) *Cluster[T, V, S] {
	c := &Cluster[T, V, S]{shared: s, key: key, target: target, poked: make(chan struct{}, 1), forgotten: make(chan struct{})}
	c.looker = s.source.Looker(c)
	return c
}

// Looker returns the looker that reads the cluster.
func (c *Cluster[T, V, S]) Looker() Looker[V] { return c.looker }

// Clock returns the clock of the prober.
func (c *Cluster[T, V, S]) Clock() clock.WithTicker { return c.clock }

// Target returns the last target that was set.
func (c *Cluster[T, V, S]) Target() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

// Wake makes the next read start at once.
func (c *Cluster[T, V, S]) Wake() {
	select {
	case c.poked <- struct{}{}:
	default: // another call has already requested the next read
	}
}

// Go runs a function in a goroutine. The prober waits for the function before it ends.
func (c *Cluster[T, V, S]) Go(f func()) { c.running.Go(f) }

func (c *Cluster[T, V, S]) aim(target T) {
	c.mu.Lock()
	changed := !c.source.Same(c.target, target)
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

// last returns the view of the latest read; false if no read has ended yet. The caller holds the lock.
func (c *Cluster[T, V, S]) last() (V, bool) {
	if c.view == nil {
		var none V
		return none, false
	}
	return *c.view, true
}

// whileWatched returns a context that also ends when the prober forgets the cluster.
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
