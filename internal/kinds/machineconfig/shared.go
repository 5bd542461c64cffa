// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/kured"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/nodedrain/evict"
)

// shared is what the reconcilers of pools and of nodes have in common.
type shared struct {
	*kit.Tools
	configs *configs
	// drains are the last plans of drains by node. The status of a pool shows what blocks them.
	drains kit.Memory[string, *drain.Plan]
	// refused has the last refusals of evictions.
	refused evict.Refusals
	// denied has the last refusals of patches by node.
	denied kit.Memory[string, string]
	// readings are what the nodes say, and locks the nodes that hold kured's lock.
	readings fleet.Readings
	locks    kured.Locks
	// nodes and pools wake the other reconciler.
	nodes, pools waker
}

// forget deletes what the process remembers about a node that is gone.
func (s *shared) forget(key client.ObjectKey) {
	s.drains.Forget(key.Name)
	s.refused.Forget(key.Name)
	s.denied.Forget(key.Name)
	s.readings.Forget(key.Name)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// waker enqueues objects in the queue of a controller.
type waker struct {
	mutex sync.Mutex
	queue queue
}

// source gives the waker the queue of its controller.
func (w *waker) source() source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.queue = q
		return nil
	})
}

// wake enqueues an object. Before the controller has started it does nothing, because all objects are enqueued then.
func (w *waker) wake(name string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.queue != nil && name != "" {
		w.queue.Add(request(name))
	}
}

// fleet reads all pools and nodes from the cache. They must not be changed.
func (s *shared) fleet(ctx context.Context) (fleet.Fleet, error) {
	out, err := s.poolsOnly(ctx)
	if err == nil {
		out.Nodes, err = listNodes(ctx, s.Client)
	}
	return out, err
}

// poolsOnly returns a fleet without nodes.
func (s *shared) poolsOnly(ctx context.Context) (fleet.Fleet, error) {
	out := fleet.Fleet{Drained: map[string]bool{}, Operator: s.Node, Readings: &s.readings}
	var err error
	if out.Pools, err = listPools(ctx, s.Client); err != nil {
		return out, err
	}
	out.Activities, err = s.activities(ctx)
	return out, err
}

func listPools(ctx context.Context, reader client.Reader) ([]*mcfgv1.MachineConfigPool, error) {
	list := &mcfgv1.MachineConfigPoolList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list MachineConfigPools: %w", err)
	}
	return pointers(list.Items), nil
}

// listNodes returns all nodes by name. The cache returns them in any order, in which messages would change for no reason.
func listNodes(ctx context.Context, reader client.Reader) ([]*corev1.Node, error) {
	list := &corev1.NodeList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	out := pointers(list.Items)
	slices.SortFunc(out, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// poolReconciler reconciles MachineConfigPools. It never writes a Node.
type poolReconciler struct {
	*shared
	// renderings are the last results by pool.
	renderings kit.Memory[string, *rendering]
	gauges     *gauges
}

// forgetPool deletes what the process remembers about a pool that is gone.
func (r *poolReconciler) forgetPool(key client.ObjectKey) {
	r.renderings.Forget(key.Name)
	r.gauges.forget(key.Name)
}
