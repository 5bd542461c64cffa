// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kit"
)

// Install machine agents on hosts, and remove them. These pods are root on their nodes.
// +kubebuilder:rbac:groups="",namespace=opcrew-machines,resources=pods,verbs=get;list;watch;create;patch;delete
// Set owner references to a Node on the pods that install its machine agent.
// +kubebuilder:rbac:groups="",resources=nodes/finalizers,verbs=update

const workers = 4

// Setup adds the reconciler to the manager.
func Setup(mgr ctrl.Manager, tools *kit.Tools) error {
	ca, nodes := authorityOf(mgr.GetConfig()), allNodes(mgr.GetClient())
	loop := &kit.Loop[*corev1.Node, facts, decision]{
		Tools: tools,
		New:   func() *corev1.Node { return &corev1.Node{} },
		Kind:  &reconciler{tools, ca},
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("machineconfig-agent").
		For(&corev1.Node{}, builder.WithPredicates(nodeChanged())).
		Owns(&corev1.Pod{}).
		Watches(&mcfgv1.MachineConfigPool{}, handler.EnqueueRequestsFromMapFunc(nodes), builder.WithPredicates(predicate.Or[client.Object](
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		WatchesRawSource(ca.renewals(tools.Clock, nodes)).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// nodeChanged lets through changes of labels, annotations and readiness. It ignores heartbeats.
func nodeChanged() predicate.Predicate {
	return kit.Updates(func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
		return !maps.Equal(before.Labels, after.Labels) || !maps.Equal(nodepatch.Relevant(before), nodepatch.Relevant(after)) || isReady(before) != isReady(after)
	})
}

// allNodes enqueues all nodes after a change of a pool, which may select others than before.
func allNodes(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, _ client.Object) []reconcile.Request {
		list := &corev1.NodeList{}
		if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil // the cache has stopped
		}
		out := make([]reconcile.Request, len(list.Items))
		for i := range list.Items {
			out[i].Name = list.Items[i].Name
		}
		return out
	}
}
