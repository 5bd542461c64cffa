// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// Find the hosts of a fleet, and notice when they become available.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch

// fleetIndex is the cache index that finds the fleets of nodes whose run has not ended.
const fleetIndex = "fleet"

func indexFleets(mgr ctrl.Manager) error {
	return mgr.GetFieldIndexer().IndexField(context.Background(), &egov1.Activity{}, fleetIndex, func(object client.Object) []string {
		if a := object.(*egov1.Activity); !fleet.Is(a) || a.Spec.Hosts.SSH != nil || run.Over(a) {
			return nil
		}
		return []string{"active"}
	})
}

// atWork enqueues the fleets of nodes whose run has not ended, and the one that has cordoned the node.
func (r fleets) atWork(ctx context.Context, node client.Object) []reconcile.Request {
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{fleetIndex: "active"}, client.UnsafeDisableDeepCopy); err != nil {
		return nil // cannot happen, because the cache has the index
	}
	var out []reconcile.Request
	if cordon := claims.CordonOf(node.(*corev1.Node)); cordon != nil {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: cordon.Namespace, Name: cordon.Name}})
	}
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// hostChanged passes the changes of a node that matter to a fleet. Heartbeats do not.
func hostChanged() predicate.Predicate {
	return kit.Updates(func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, ok2 := e.ObjectNew.(*corev1.Node)
		return !ok || !ok2 || before.Spec.Unschedulable != after.Spec.Unschedulable ||
			before.Annotations[claims.FleetCordon] != after.Annotations[claims.FleetCordon] || claims.ByMachineConfig(before) != claims.ByMachineConfig(after) ||
			run.StateOf(before).Ready != run.StateOf(after).Ready || !labels.Equals(before.Labels, after.Labels)
	})
}
