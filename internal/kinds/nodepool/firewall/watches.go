// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Deliver the rules to the agents on nodes, which have no rights to NodePools.
// +kubebuilder:rbac:groups="",namespace=opcrew-firewall,resources=configmaps,verbs=get;list;watch;create;patch;delete
// Run the agents, which change the firewall of their nodes.
// +kubebuilder:rbac:groups=apps,namespace=opcrew-firewall,resources=daemonsets,verbs=get;list;watch;create;patch;delete
// Read the account of the agents, which owns these objects.
// +kubebuilder:rbac:groups="",namespace=opcrew-firewall,resources=serviceaccounts,verbs=get;list;watch
// Set owner references to the account of the agents.
// +kubebuilder:rbac:groups="",namespace=opcrew-firewall,resources=serviceaccounts/finalizers,verbs=update
// Read the port of the API server, which no rule may close.
// +kubebuilder:rbac:groups="",resources=services,resourceNames=kubernetes,verbs=get

// gatherTime is the delay between an event and the reconcile, which reads all nodes. So one reconcile handles many
// events.
const gatherTime = 300 * time.Millisecond

// Cache returns the cache options of the types that the reconciler reads in addition to pools and nodes.
func Cache() map[client.Object]cache.ByObject {
	ours := kit.Ours()
	ours.Namespaces = map[string]cache.Config{nodefirewall.Namespace: {}}
	return map[client.Object]cache.ByObject{&corev1.ConfigMap{}: ours, &appsv1.DaemonSet{}: ours, &corev1.ServiceAccount{}: ours}
}

// Setup adds the reconciler to the manager. It reports why rules cannot be delivered, and to which pools that matters; an
// empty reason means success.
func Setup(mgr ctrl.Manager, tools *kit.Tools, report func(why string, pools []string)) error {
	loop := &kit.Loop[*corev1.ServiceAccount, World, decision]{
		Tools: tools,
		New:   func() *corev1.ServiceAccount { return &corev1.ServiceAccount{} },
		Kind:  &reconciler{Tools: tools},
		After: func(_ *corev1.ServiceAccount, w World, _ decision, done kit.Outcome) {
			report(obstacle(done), w.concerned())
		},
	}
	account := predicate.NewPredicateFuncs(func(object client.Object) bool {
		return object.GetNamespace() == nodefirewall.Namespace && object.GetName() == nodefirewall.Name
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodepool-firewall").
		For(&corev1.ServiceAccount{}, builder.WithPredicates(account)).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.DaemonSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&nodesv1.NodePool{}, soon(), builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletion()))).
		Watches(&corev1.Node{}, soon(), builder.WithPredicates(nodeChanged())).
		WithOptions(loop.Options(1)).
		Complete(loop)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// soon enqueues the one request of this reconciler.
func soon() handler.EventHandler {
	add := func(q queue) {
		q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: nodefirewall.Namespace, Name: nodefirewall.Name}}, gatherTime)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, _ event.CreateEvent, q queue) { add(q) },
		UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q queue) { add(q) },
		DeleteFunc: func(_ context.Context, _ event.DeleteEvent, q queue) { add(q) },
	}
}

func deletion() predicate.Predicate {
	return kit.Updates(func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	})
}

// nodeChanged lets through events that can change which pools a node belongs to, its addresses, or its report.
func nodeChanged() predicate.Predicate {
	return kit.Updates(func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
		return !maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
			!slices.Equal(before.Spec.PodCIDRs, after.Spec.PodCIDRs) ||
			!slices.Equal(addressesOf(before), addressesOf(after))
	})
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
