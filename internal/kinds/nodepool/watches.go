// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/firewall"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
)

// gatherTime is the delay between an event of a node and the reconcile of its pools. The reconcile reads all nodes of a
// NodePool, so one reconcile should handle many events.
const gatherTime = 500 * time.Millisecond

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// nodeChanged lets through events of nodes that may matter to a NodePool. It ignores heartbeats; 5000 nodes send 17 of
// them per second.
func nodeChanged() predicate.Predicate {
	return kit.Updates(func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, ok2 := e.ObjectNew.(*corev1.Node)
		if !ok || !ok2 {
			return true
		}
		return !maps.Equal(before.Labels, after.Labels) ||
			!maps.Equal(before.Annotations, after.Annotations) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			before.Spec.Unschedulable != after.Spec.Unschedulable ||
			before.Status.NodeInfo.BootID != after.Status.NodeInfo.BootID ||
			nodeReady(before) != nodeReady(after) ||
			pipeline.Responds(before) != pipeline.Responds(after) ||
			!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
			!equality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable) ||
			!equality.Semantic.DeepEqual(before.Status.Addresses, after.Status.Addresses) ||
			!equality.Semantic.DeepEqual(before.Status.RuntimeHandlers, after.Status.RuntimeHandlers)
	})
}

// concerned returns the names of the NodePools to which a node belongs, whose settings or firewall rules it still has,
// or whose commands may run on it.
func concerned(node *corev1.Node, pools []*nodesv1.NodePool) []string {
	held := nodestate.LedgerOf(node)
	names := map[string]bool{}
	for _, name := range append(held.AllPools(), firewall.PoolsOn(node)...) {
		names[name] = true
	}
	for _, pool := range pools {
		if nodestate.Belongs(pool, node, held) || remediation.RunsOn(pool, node) {
			names[pool.Name] = true
		}
	}
	return sortedNames(names)
}

// poolsOfNode enqueues the NodePools to which a node belongs, or whose settings it still has.
func poolsOfNode(reader client.Reader) handler.EventHandler {
	wake := func(ctx context.Context, q queue, nodes ...client.Object) {
		pools, err := listPools(ctx, reader)
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to find the pools of a node")
			return
		}
		for _, object := range nodes {
			for _, name := range concerned(object.(*corev1.Node), pools) {
				q.AddAfter(request(name), gatherTime)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { wake(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}

// nodesOfPool enqueues the nodes that belong to a NodePool before or after its change, and the nodes that still have
// its settings.
func nodesOfPool(reader client.Reader) handler.EventHandler {
	wake := func(ctx context.Context, q queue, pools ...client.Object) {
		for _, pool := range pools {
			for _, r := range requestsOf(ctx, reader, pool.(*nodesv1.NodePool)) {
				q.Add(r)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if specChanged(e.ObjectOld, e.ObjectNew) || classReported(e.ObjectOld) != classReported(e.ObjectNew) || markedNodes(e.ObjectOld) != markedNodes(e.ObjectNew) {
				wake(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}

// nodesOfClass enqueues the nodes of the NodePool that has the same name as a RuntimeClass, because taints may be
// waiting for the tolerations of the RuntimeClass.
func nodesOfClass(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, class client.Object) []reconcile.Request {
		pool := &nodesv1.NodePool{}
		if err := reader.Get(ctx, client.ObjectKeyFromObject(class), pool); err != nil {
			return nil
		}
		return requestsOf(ctx, reader, pool)
	}
}

// requestsOf returns reconcile requests for the members of a NodePool, and for nodes that still have its settings.
func requestsOf(ctx context.Context, reader client.Reader, pool *nodesv1.NodePool) []reconcile.Request {
	nodes, err := nodesNear(ctx, reader, pool)
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to find the nodes of a pool")
		return nil
	}
	var requests []reconcile.Request
	for i := range nodes {
		if !mayConcern(pool, &nodes[i]) {
			continue
		}
		if held := nodestate.LedgerOf(&nodes[i]); held.Mentions(pool.Name) || nodestate.Belongs(pool, &nodes[i], held) {
			requests = append(requests, request(nodes[i].Name))
		}
	}
	return requests
}

// otherPools enqueues the NodePools that may share nodes with a pool whose spec changed.
func otherPools(reader client.Reader) handler.EventHandler {
	wake := func(ctx context.Context, q queue, changed client.Object) {
		pools, err := listPools(ctx, reader)
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to find other pools")
			return
		}
		for _, pool := range pools {
			if pool.Name != changed.GetName() {
				q.AddAfter(request(pool.Name), gatherTime)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if specChanged(e.ObjectOld, e.ObjectNew) {
				wake(ctx, q, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}

// specChanged reports whether the spec, the annotations or the deletion of a NodePool changed, and not only its status.
func specChanged(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// markedNodes identifies the nodes that a NodePool reports as fenced, and that need taints.
func markedNodes(object client.Object) string {
	if pool, ok := object.(*nodesv1.NodePool); ok {
		return remediation.Marked(pool)
	}
	return ""
}

// classReported returns the generation of the NodePool that its condition RuntimeClassReady describes. New taints wait
// until this is the current generation.
func classReported(object client.Object) int64 {
	pool, ok := object.(*nodesv1.NodePool)
	if !ok {
		return 0
	}
	c := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolRuntimeClassReady)
	if c == nil {
		return 0
	}
	return c.ObservedGeneration
}

// sameName enqueues the NodePool that has the same name as a RuntimeClass or a MachineConfigPool.
func sameName(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{request(object.GetName())}
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}
