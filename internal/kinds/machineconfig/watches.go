// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
)

// gatherTime is the delay between an event of a node and the reconcile of its pools, which reads all nodes.
const gatherTime = 100 * time.Millisecond

// nodeChanged lets through events of nodes that may matter to a pool. It ignores heartbeats, and taints of others:
// Kubernetes adds one to each node that is cordoned.
func nodeChanged() predicate.Predicate {
	return kit.Updates(func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, ok2 := e.ObjectNew.(*corev1.Node)
		if !ok || !ok2 {
			return true
		}
		return !maps.Equal(before.Labels, after.Labels) ||
			!maps.Equal(nodepatch.Relevant(before), nodepatch.Relevant(after)) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			before.Spec.Unschedulable != after.Spec.Unschedulable ||
			nodepatch.Has(before, nodepatch.Updating) != nodepatch.Has(after, nodepatch.Updating) ||
			nodepatch.Has(before, nodepatch.Startup) != nodepatch.Has(after, nodepatch.Startup) ||
			!maps.Equal(statuses(before), statuses(after))
	})
}

// statuses returns the statuses of a node's conditions, because a health gate may name any of them.
func statuses(node *corev1.Node) map[corev1.NodeConditionType]corev1.ConditionStatus {
	out := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range node.Status.Conditions {
		out[c.Type] = c.Status
	}
	return out
}

// nodesOfPool enqueues the nodes that a pool selects before or after a change that matters to them.
func nodesOfPool(reader client.Reader) handler.EventHandler {
	wake := func(ctx context.Context, q queue, pools ...client.Object) {
		nodes, err := listNodes(ctx, reader)
		if err != nil {
			log.FromContext(ctx).Error(err, "Failed to find the nodes of a pool")
			return
		}
		for _, pool := range pools {
			for _, name := range selected(pool.(*mcfgv1.MachineConfigPool), nodes) {
				q.Add(request(name))
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if decisive(e.ObjectOld, e.ObjectNew) {
				wake(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}

func selected(pool *mcfgv1.MachineConfigPool, nodes []*corev1.Node) []string {
	var out []string
	one := fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{pool.DeepCopy()}}
	one.Pools[0].DeletionTimestamp = nil
	for _, n := range nodes {
		if len(one.PoolsOf(n)) > 0 {
			out = append(out, n.Name)
		}
	}
	return out
}

// decisive reports whether a change of a pool can change what its nodes get: its spec, a pause, its deletion, or the
// records in its status.
func decisive(before, after client.Object) bool {
	a, ok := before.(*mcfgv1.MachineConfigPool)
	b, ok2 := after.(*mcfgv1.MachineConfigPool)
	return !ok || !ok2 || a.Generation != b.Generation || rollout.IsPaused(a) != rollout.IsPaused(b) || a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() ||
		a.Status.Configuration.Name != b.Status.Configuration.Name || !equality.Semantic.DeepEqual(a.Status.RollBack, b.Status.RollBack)
}

// poolsSoon enqueues all pools after an event of a node or of a MachineConfig. There are few pools, and a node that
// leaves its place in a budget can let a node of another pool begin.
func poolsSoon(reader client.Reader) handler.EventHandler {
	wake := func(ctx context.Context, q queue) {
		for _, r := range requestsOfPools(ctx, reader, "") {
			q.AddAfter(r, gatherTime)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, _ event.CreateEvent, q queue) { wake(ctx, q) },
		UpdateFunc: func(ctx context.Context, _ event.UpdateEvent, q queue) { wake(ctx, q) },
		DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, q queue) { wake(ctx, q) },
	}
}

// otherPools enqueues the pools that may share nodes with a pool that changed.
func otherPools(reader client.Reader) handler.EventHandler {
	wake := func(ctx context.Context, q queue, changed client.Object) {
		for _, r := range requestsOfPools(ctx, reader, changed.GetName()) {
			q.AddAfter(r, gatherTime)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if decisive(e.ObjectOld, e.ObjectNew) {
				wake(ctx, q, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}

func requestsOfPools(ctx context.Context, reader client.Reader, except string) []reconcile.Request {
	pools, err := listPools(ctx, reader)
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to find the pools")
		return nil
	}
	var out []reconcile.Request
	for _, p := range pools {
		if p.Name != except {
			out = append(out, request(p.Name))
		}
	}
	return out
}

// poolOfConfig enqueues the pool of a delivered configuration, rendered-<pool>-<hash>, or of a key, hash-key-<pool>.
func poolOfConfig(_ context.Context, secret client.Object) []reconcile.Request {
	if pool, found := strings.CutPrefix(secret.GetName(), keyPrefix); found {
		return []reconcile.Request{request(pool)}
	}
	if pool := poolOf(secret.GetName()); pool != "" {
		return []reconcile.Request{request(pool)}
	}
	return nil
}

// poolOf returns the pool of a configuration by its name; empty if the name is another one.
func poolOf(config string) string {
	name, found := strings.CutPrefix(config, "rendered-")
	end := strings.LastIndexByte(name, '-')
	if !found || end < 0 {
		return ""
	}
	return name[:end]
}
