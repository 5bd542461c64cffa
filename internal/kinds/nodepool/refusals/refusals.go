// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package refusals passes errors of patches of nodes to the reconciler of NodePools.
package refusals

import (
	"maps"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Refusals holds errors of patches of nodes for the reconciler of NodePools, because users look for errors in the
// status of pools. The errors are kept in memory only: after a restart, the next patch of a node fails and reports its
// error again.
type Refusals struct {
	mu     sync.Mutex
	byNode map[string]string
	woken  map[string]bool // pools that are enqueued but not reconciled yet
	wake   chan event.TypedGenericEvent[*nodesv1.NodePool]
}

// New returns an empty Refusals.
func New() *Refusals {
	return &Refusals{
		byNode: map[string]string{},
		woken:  map[string]bool{},
		wake:   make(chan event.TypedGenericEvent[*nodesv1.NodePool], 1024),
	}
}

// Set records why a node could not be changed; an empty why means success. If the reason changed, Set enqueues the
// given NodePools.
func (r *Refusals) Set(node, why string, pools []string) {
	r.mu.Lock()
	old := r.byNode[node]
	if why == "" {
		delete(r.byNode, node)
	} else {
		r.byNode[node] = why
	}
	r.mu.Unlock()
	if old == why {
		return
	}
	for _, name := range pools {
		r.wakePool(name)
	}
}

// wakePool enqueues a NodePool unless it is enqueued already. It does not block: if the channel is full, the pool reads
// the refusal in its next reconcile.
func (r *Refusals) wakePool(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.woken[name] {
		return
	}
	pool := &nodesv1.NodePool{}
	pool.Name = name
	select {
	case r.wake <- event.TypedGenericEvent[*nodesv1.NodePool]{Object: pool}:
		r.woken[name] = true
	default:
	}
}

// Snapshot returns why nodes could not be changed, by node, and allows the NodePool to be enqueued again.
func (r *Refusals) Snapshot(pool string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.woken, pool)
	return maps.Clone(r.byNode)
}

// Woken returns the channel on which Set enqueues NodePools.
func (r *Refusals) Woken() <-chan event.TypedGenericEvent[*nodesv1.NodePool] { return r.wake }
