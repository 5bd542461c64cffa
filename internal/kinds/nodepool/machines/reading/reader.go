// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reading reads the objects of machines and their templates from the API server, in the background. No informer
// reads them, because their CRDs need not exist.
package reading

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines"
)

// Facts are what was read for a NodePool. View is nil until the first reading has ended. Again is when the NodePool
// should be reconciled again.
type Facts struct {
	View  *machines.View
	Again time.Duration
}

// Reader reads one target after the other, so that a slow API server delays no reconcile. It keeps the last view of each
// target in memory.
type Reader struct {
	api   api // only the goroutine of Start uses it
	clock clock.PassiveClock
	wake  chan event.TypedGenericEvent[*nodesv1.NodePool]
	due   chan struct{}

	mu      sync.Mutex
	targets map[target]*entry
}

// entry is the last view of a target, and when a NodePool last asked for it.
type entry struct {
	view  *machines.View
	asked time.Time
	// waiting are the NodePools that wait for the next reading.
	waiting map[string]bool
}

// New returns a Reader that reads with a client for the API server, and asks the catalog only after a refused request.
func New(live client.Reader, served Catalog, now clock.PassiveClock) *Reader {
	return &Reader{
		api:     api{live, served, now, map[machines.Source]listing{}},
		clock:   now,
		wake:    make(chan event.TypedGenericEvent[*nodesv1.NodePool], 1024),
		due:     make(chan struct{}, 1),
		targets: map[target]*entry{},
	}
}

// Woken returns the channel on which the Reader enqueues NodePools after a reading.
func (r *Reader) Woken() <-chan event.TypedGenericEvent[*nodesv1.NodePool] { return r.wake }

// Observe returns the last view for a NodePool, and requests a reading if this view is too old for its nodes.
func (r *Reader) Observe(pool *nodesv1.NodePool, nodes []*corev1.Node) Facts {
	if pool.DeletionTimestamp != nil || pool.Spec.Machine == nil || pool.Spec.Machine.TemplateRef == nil {
		return Facts{}
	}
	t := target{*pool.Spec.Machine.TemplateRef, len(pool.Spec.Machine.SecurityGroups) > 0}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.targets[t]
	if e == nil {
		e = &entry{waiting: map[string]bool{}}
		r.targets[t] = e
	}
	e.asked = r.clock.Now()
	if e.view != nil {
		if left := machines.Wait(nodes, e.view) - r.clock.Since(e.view.At); left > 0 {
			return Facts{View: e.view, Again: left}
		}
	}
	e.waiting[pool.Name] = true
	r.signal()
	return Facts{View: e.view, Again: machines.Retry}
}

func (r *Reader) signal() {
	select {
	case r.due <- struct{}{}:
	default: // a signal is pending already
	}
}

// Start reads until the context ends. The manager calls it in the process that leads.
func (r *Reader) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.due:
		}
		for t, found := r.next(); found && ctx.Err() == nil; t, found = r.next() {
			r.store(t, r.api.read(ctx, t))
		}
	}
}

// next returns a target for which a NodePool waits. It forgets targets for which no NodePool asks any more.
func (r *Reader) next() (target, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for t, e := range r.targets {
		if len(e.waiting) > 0 {
			return t, true
		}
		if r.clock.Since(e.asked) > 2*machines.Interval {
			delete(r.targets, t)
		}
	}
	r.api.forgetLists()
	return target{}, false
}

// store keeps a view, and wakes the NodePools that wait for it. If the channel is full, a NodePool reads the view in its
// next reconcile.
func (r *Reader) store(t target, view *machines.View) {
	r.mu.Lock()
	e := r.targets[t]
	woken := e.waiting
	e.view, e.waiting = view, map[string]bool{}
	r.mu.Unlock()
	for name := range woken {
		pool := &nodesv1.NodePool{}
		pool.Name = name
		select {
		case r.wake <- event.TypedGenericEvent[*nodesv1.NodePool]{Object: pool}:
		default:
		}
	}
}
