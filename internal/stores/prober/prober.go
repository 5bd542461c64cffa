// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prober reads stores, such as etcd clusters, in the background. Each store has its own goroutine, so that a
// store that hangs delays no other. The prober keeps the latest view of each store: the state that it read last. It
// sends an event when a view changes in a way that matters to a controller. It executes steps, one at a time per store.
//
// A Source defines one kind of store: how it is opened and read, and which changes of a view matter.
package prober

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Prober reads all clusters of one kind.
type Prober[T, V any, S Store] struct {
	*shared[T, V, S]
	clusters map[types.NamespacedName]*Cluster[T, V, S]
}

// New returns a prober that reads no cluster yet.
func New[T, V any, S Store](source Source[T, V, S], clock clock.WithTicker) *Prober[T, V, S] {
	return &Prober[T, V, S]{
		shared:   &shared[T, V, S]{source: source, clock: clock, events: make(chan event.GenericEvent, 1024)},
		clusters: map[types.NamespacedName]*Cluster[T, V, S]{},
	}
}

// Watch starts to read a cluster. If the prober already reads it, Watch sets its target.
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

// Forget stops reading a cluster and drops its view, as the next cluster of that name may be a different one.
func (p *Prober[T, V, S]) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clusters[key]; ok {
		delete(p.clusters, key)
		close(c.forgotten)
	}
}

// View returns the latest view of a cluster; false before the first read has ended. The view is shared and must not be
// changed.
func (p *Prober[T, V, S]) View(key types.NamespacedName) (V, bool) {
	c, ok := p.Cluster(key)
	if !ok {
		var none V
		return none, false
	}
	return c.seen()
}

// Views returns the latest views of all clusters that have one.
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

// Poke makes the next read of a cluster start at once.
func (p *Prober[T, V, S]) Poke(key types.NamespacedName) {
	if c, ok := p.Cluster(key); ok {
		c.Wake()
	}
}

// Do executes a step on the live store, and then starts a read. The view is stale from the start of the step until that
// read, even if the step fails.
func (p *Prober[T, V, S]) Do(ctx context.Context, key types.NamespacedName, step func(context.Context, S) error) error {
	c, ok := p.Cluster(key)
	if !ok || !p.started() {
		return ErrNotWatched
	}
	return c.do(ctx, step)
}

// Events returns a channel that receives an event for each cluster whose view has changed in a way that matters to a
// controller. The objects in the events have only a name and a namespace.
func (p *Prober[T, V, S]) Events() <-chan event.GenericEvent { return p.events }

// NeedLeaderElection returns true, as only the elected leader among the operator's instances may read and change
// clusters.
func (p *Prober[T, V, S]) NeedLeaderElection() bool { return true }

// Start reads clusters until the context ends. It returns when all goroutines of the prober have ended.
func (p *Prober[T, V, S]) Start(ctx context.Context) error {
	p.mu.Lock()
	p.ctx = ctx
	for _, c := range p.clusters {
		p.run(c.run)
	}
	p.mu.Unlock()
	<-ctx.Done()
	// A goroutine may be starting under the lock. Wait for the lock, so that running counts this goroutine.
	p.mu.Lock()
	p.mu.Unlock() //nolint:staticcheck // the lock only orders Start and Wait
	p.running.Wait()
	return nil
}

// Cluster returns the cluster with the given key; false if the prober does not read this cluster.
func (p *Prober[T, V, S]) Cluster(key types.NamespacedName) (*Cluster[T, V, S], bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.clusters[key]
	return c, ok
}
