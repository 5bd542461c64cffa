// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kit"
)

// Setup adds the controller that reconciles what the MicroServiceDeploys of a namespace share.
func Setup(mgr ctrl.Manager, tools *kit.Tools, around *Neighbours, troubles *Troubles, workers int) error {
	r := &reconciler{Tools: tools, around: around, troubles: troubles}
	loop := &kit.Loop[*corev1.Namespace, facts, decision]{
		Tools: r.Tools,
		New:   func() *corev1.Namespace { return &corev1.Namespace{} },
		Kind:  r,
		After: func(ns *corev1.Namespace, _ facts, _ decision, done kit.Outcome) {
			r.troubles.CarriedOut(ns.Name, done)
		},
		Forget: []func(client.ObjectKey){func(key client.ObjectKey) {
			r.checked.Delete(key.Name)
			r.around.Forget(key.Name)
			r.troubles.Forget(key.Name)
		}},
	}
	tenant := handler.EnqueueRequestsFromMapFunc(namespaceOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("microservicedeploy-tenant").
		For(&corev1.Namespace{}, builder.WithPredicates(r.occupied(), labelsOrPauseChanged)).
		Watches(&customv1.MicroServiceDeploy{}, tenant, builder.WithPredicates(specChanged)).
		Watches(&appsv1.Deployment{}, tenant, builder.WithPredicates(ofInstances)).
		Watches(&corev1.ResourceQuota{}, tenant, builder.WithPredicates(tenants)).
		Watches(&corev1.Secret{}, tenant, builder.WithPredicates(tenants)).
		Watches(&nodev1.RuntimeClass{}, handler.EnqueueRequestsFromMapFunc(r.tenantsOfClass)).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

func namespaceOf(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{tenantRequest(object.GetNamespace())}
}

// tenantsOfClass enqueues the namespaces with MicroServiceDeploys that use a RuntimeClass.
func (r *reconciler) tenantsOfClass(ctx context.Context, class client.Object) []reconcile.Request {
	list := &customv1.MicroServiceDeployList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache has stopped
	}
	var out []reconcile.Request
	for i := range list.Items {
		if quota.RuntimeClass(&list.Items[i]) == class.GetName() {
			out = append(out, tenantRequest(list.Items[i].Namespace))
		}
	}
	return out
}

func tenantRequest(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: namespace}}
}

// occupied drops events of new namespaces without a MicroServiceDeploy. Their first MicroServiceDeploy enqueues them. The
// cache may show that MicroServiceDeploy before its namespace; then the event of the namespace must pass.
func (r *reconciler) occupied() predicate.Funcs {
	return predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool {
		list := &customv1.MicroServiceDeployList{}
		err := r.Client.List(context.Background(), list, client.InNamespace(e.Object.GetName()), client.UnsafeDisableDeepCopy)
		return err != nil || len(list.Items) > 0
	}}
}

var (
	specChanged          = kit.Updates(func(e event.UpdateEvent) bool { return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() })
	labelsOrPauseChanged = kit.Updates(func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			e.ObjectOld.GetAnnotations()[common.PausedAnnotation] != e.ObjectNew.GetAnnotations()[common.PausedAnnotation]
	})
	ofInstances = predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[names.NameLabel] == names.AppName })
	tenants     = predicate.NewPredicateFuncs(func(o client.Object) bool { return quota.IsBound(o.GetName()) || o.GetName() == names.TenantAuth })
)
