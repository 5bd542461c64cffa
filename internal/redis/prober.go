// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// callTimeout is for one call to a cluster, and for a step as a whole.
const callTimeout = 2 * time.Second

// ErrNotWatched tells that a cluster is not looked at (yet, or any more).
var ErrNotWatched = errors.New("the cluster is not watched")

// Prober looks at clusters, each in a goroutine of its own: one that hangs holds up
// nobody. It remembers what it saw last, tells when that changes in what matters, and moves
// slots where it is told to.
type Prober struct {
	dial     Dialer
	clock    clock.WithTicker
	interval func(View) time.Duration
	events   chan event.GenericEvent

	mu       sync.Mutex
	ctx      context.Context // of Start; nil before it
	clusters map[types.NamespacedName]*cluster
	running  sync.WaitGroup
}

// NewProber makes one that dials by dial and looks again after what interval tells. A nil
// interval is DefaultInterval.
func NewProber(dial Dialer, clock clock.WithTicker, interval func(View) time.Duration) *Prober {
	if interval == nil {
		interval = DefaultInterval
	}
	return &Prober{
		dial: dial, clock: clock, interval: interval,
		events:   make(chan event.GenericEvent, 1024),
		clusters: map[types.NamespacedName]*cluster{},
	}
}

// Watch has a cluster looked at, from now on at the given target. To say the same again
// does nothing.
func (p *Prober) Watch(key types.NamespacedName, target Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, known := p.clusters[key]; known {
		c.aim(target)
		return
	}
	c := newCluster(p, key, target)
	p.clusters[key] = c
	if p.ctx != nil {
		p.run(c)
	}
}

// Forget ends that, and drops all that is known. Somebody else's cluster may have the
// name next.
func (p *Prober) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clusters[key]; ok {
		delete(p.clusters, key)
		close(c.forgotten)
	}
}

// View is what was seen last; false before the first look has ended. It is shared: read it.
func (p *Prober) View(key types.NamespacedName) (View, bool) {
	c, ok := p.cluster(key)
	if !ok {
		return View{}, false
	}
	return c.seen()
}

// Do takes a step on the live store, and has the cluster looked at after it. The View is
// Stale from the start of the step until then, whatever came of it.
func (p *Prober) Do(ctx context.Context, key types.NamespacedName, step func(context.Context, Store) error) error {
	c, ok := p.cluster(key)
	if !ok || !p.started() {
		return ErrNotWatched
	}
	return c.do(ctx, step)
}

// Take takes a step as Do does. A move of slots is only begun, or stopped, by it: how far it
// is stands in the View.
func (p *Prober) Take(ctx context.Context, key types.NamespacedName, step Step) error {
	c, ok := p.cluster(key)
	if !ok || !p.started() {
		return ErrNotWatched
	}
	switch step := step.(type) {
	case MoveSlots:
		return c.beginMove(step)
	case StopMove:
		c.stopMove()
		return nil
	}
	return c.do(ctx, func(ctx context.Context, store Store) error { return Apply(ctx, store, step) })
}

// Events are about clusters whose View has changed in what matters. Only the name and
// the namespace of their objects are set.
func (p *Prober) Events() <-chan event.GenericEvent { return p.events }

// NeedLeaderElection has only the instance that acts look.
func (p *Prober) NeedLeaderElection() bool { return true }

// Start looks at what is watched until the context ends, and returns when nothing runs
// any more.
func (p *Prober) Start(ctx context.Context) error {
	p.mu.Lock()
	p.ctx = ctx
	for _, c := range p.clusters {
		p.run(c)
	}
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()   // whoever saw the context alive has counted itself in
	p.mu.Unlock() //nolint:staticcheck // see above
	p.running.Wait()
	return nil
}

func (p *Prober) started() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ctx != nil && p.ctx.Err() == nil
}

func (p *Prober) cluster(key types.NamespacedName) (*cluster, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.clusters[key]
	return c, ok
}

func (p *Prober) run(c *cluster) {
	if p.ctx.Err() == nil {
		ctx := p.ctx
		p.running.Go(func() { c.run(ctx) })
	}
}

// changed tells whoever listens. Whoever does not holds up nothing but this cluster.
func (p *Prober) changed(ctx context.Context, key types.NamespacedName) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	select {
	case p.events <- event.GenericEvent{Object: object}:
	case <-ctx.Done():
	}
}
