// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prober reads stores in the background, each in a goroutine of its own, so that one that hangs delays no
// other. It keeps the last view of each store, reports when a view changes in a way that matters, and carries out
// steps: one at a time per store, with the view marked stale until the next look.
//
// What a store is, how it is read and what matters in a view belongs to the package of the store, as a Source.
package prober

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Prober looks at clusters of one kind.
type Prober[T, V any, S Store] struct {
	*shared[T, V, S]
	clusters map[types.NamespacedName]*Cluster[T, V, S]
}

// New returns a prober that watches nothing yet.
func New[T, V any, S Store](source Source[T, V, S], clock clock.WithTicker) *Prober[T, V, S] {
	return &Prober[T, V, S]{
		shared:   &shared[T, V, S]{source: source, clock: clock, events: make(chan event.GenericEvent, 1024)},
		clusters: map[types.NamespacedName]*Cluster[T, V, S]{},
	}
}

// Watch starts to look at a cluster, or sets its target if it is watched already.
func (p *Prober[T, V, S]) Watch(key types.NamespacedName, target T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, known := p.clusters[key]; known {
		c.aim(target)
		return
	}
	c := newCluster(p.shared, key, target)
	p.clusters[key] = c
	p.run(c.run)
}

// Forget stops looking and drops the view: the next cluster of that name may be another one.
func (p *Prober[T, V, S]) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clusters[key]; ok {
		delete(p.clusters, key)
		close(c.forgotten)
	}
}

// View is the last view; false before the first look has ended. It is shared and must not be changed.
func (p *Prober[T, V, S]) View(key types.NamespacedName) (V, bool) {
	c, ok := p.Cluster(key)
	if !ok {
		var none V
		return none, false
	}
	return c.seen()
}

// Views are the last views of all clusters.
func (p *Prober[T, V, S]) Views() map[types.NamespacedName]V {
	p.mu.Lock()
	clusters := maps.Clone(p.clusters)
	p.mu.Unlock()
	out := map[types.NamespacedName]V{}
	for key, c := range clusters {
		if view, ok := c.seen(); ok {
			out[key] = view
		}
	}
	return out
}

// Poke makes the next look start at once.
func (p *Prober[T, V, S]) Poke(key types.NamespacedName) {
	if c, ok := p.Cluster(key); ok {
		c.Wake()
	}
}

// Do carries out a step on the live store and starts a look after it. The view is stale from the start of the step
// until that look, also if the step failed.
func (p *Prober[T, V, S]) Do(ctx context.Context, key types.NamespacedName, step func(context.Context, S) error) error {
	c, ok := p.Cluster(key)
	if !ok || !p.started() {
		return ErrNotWatched
	}
	return c.do(ctx, step)
}

// Events are about clusters whose view has changed in what matters. Their objects have a name and a namespace only.
func (p *Prober[T, V, S]) Events() <-chan event.GenericEvent { return p.events }

// NeedLeaderElection makes only the instance that acts look.
func (p *Prober[T, V, S]) NeedLeaderElection() bool { return true }

// Start looks until the context ends, and returns when no goroutine of the prober runs any more.
func (p *Prober[T, V, S]) Start(ctx context.Context) error {
	p.mu.Lock()
	p.ctx = ctx
	for _, c := range p.clusters {
		p.run(c.run)
	}
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()   // a goroutine that starts under the lock is counted before Wait
	p.mu.Unlock() //nolint:staticcheck // see above
	p.running.Wait()
	return nil
}

// Cluster is a cluster that is watched.
func (p *Prober[T, V, S]) Cluster(key types.NamespacedName) (*Cluster[T, V, S], bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.clusters[key]
	return c, ok
}
