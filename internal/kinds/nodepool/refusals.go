// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"maps"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// refusals carries what the nodeReconciler was refused to the pools that wanted it:
// pools are the objects that users look at, and only their reconciler writes them.
// It lives in memory, since a new process finds out again by its first try.
type refusals struct {
	mu     sync.Mutex
	byNode map[string]string
	woken  map[string]bool // pools that were woken and have not looked yet
	wake   chan event.TypedGenericEvent[*nodesv1.NodePool]
}

func newRefusals() *refusals {
	return &refusals{
		byNode: map[string]string{},
		woken:  map[string]bool{},
		wake:   make(chan event.TypedGenericEvent[*nodesv1.NodePool], 1024),
	}
}

// set records why a node could not be changed, or with an empty text that it could,
// and wakes the pools concerned when that is news.
func (r *refusals) set(node, why string, pools []string) {
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

// wakePool asks a pool to look, once until it does. No one waits here: where there are
// more pools than the channel holds, the others see it at their next look.
func (r *refusals) wakePool(name string) {
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

// snapshot gives a pool what is known now.
func (r *refusals) snapshot(pool string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.woken, pool)
	return maps.Clone(r.byNode)
}
