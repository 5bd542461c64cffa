// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// objectByLabels enqueues the MicroServiceDeploy of a pod or ReplicaSet.
var objectByLabels = workload.OwnerByLabels(names.AppName, names.ObjectLabel)

// instancesOf enqueues all MicroServiceDeploys in the namespace of an object.
func (r *reconciler) instancesOf(ctx context.Context, object client.Object) []reconcile.Request {
	return r.requests(ctx, client.InNamespace(object.GetNamespace()), func(*customv1.MicroServiceDeploy) bool { return true })
}

// instancesOfCredentials enqueues the MicroServiceDeploys that use the shared credentials of their namespace.
func (r *reconciler) instancesOfCredentials(ctx context.Context, secret client.Object) []reconcile.Request {
	if secret.GetName() != names.TenantAuth {
		return nil
	}
	return r.requests(ctx, client.InNamespace(secret.GetNamespace()), func(m *customv1.MicroServiceDeploy) bool {
		return m.Spec.NeedAuth && m.Spec.Auth == nil
	})
}

// instancesOfSecret enqueues the MicroServiceDeploys that read their configuration or credentials from a Secret.
func (r *reconciler) instancesOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	return r.requests(ctx, client.InNamespace(secret.GetNamespace()), func(m *customv1.MicroServiceDeploy) bool {
		s := m.Spec
		return s.ConfigFrom != nil && s.ConfigFrom.SecretRef.Name == secret.GetName() ||
			s.NeedAuth && auth.Sources(m)[0].Secret == secret.GetName()
	})
}

// rivalsOf enqueues the other MicroServiceDeploys that claim a host name of a MicroServiceDeploy that was created,
// deleted or changed.
func (r *reconciler) rivalsOf(ctx context.Context, object client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, host := range hosts.Claimed(object.(*customv1.MicroServiceDeploy)) {
		out = append(out, r.requests(ctx, client.MatchingFields{hostIndex: host}, func(m *customv1.MicroServiceDeploy) bool {
			return m.UID != object.GetUID()
		})...)
	}
	return out
}

func (r *reconciler) requests(ctx context.Context, of client.ListOption, which func(*customv1.MicroServiceDeploy) bool) []reconcile.Request {
	list := &customv1.MicroServiceDeployList{}
	if err := r.Client.List(ctx, list, of, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache has stopped
	}
	var out []reconcile.Request
	for i := range list.Items {
		if which(&list.Items[i]) {
			out = append(out, request(list.Items[i].Namespace, list.Items[i].Name))
		}
	}
	return out
}

// quotaChanged lets through changes of the limits of a quota, but not changes of the used amounts.
var quotaChanged = kit.Updates(func(e event.UpdateEvent) bool {
	old, now := e.ObjectOld.(*corev1.ResourceQuota), e.ObjectNew.(*corev1.ResourceQuota)
	return !equality.Semantic.DeepEqual(old.Spec, now.Spec) || !equality.Semantic.DeepEqual(old.Status.Hard, now.Status.Hard)
})

// scalerChanged lets through changes of an autoscaler that matter to opcrew. It ignores the metrics that the autoscaler
// updates every 15 seconds.
var scalerChanged = kit.Updates(func(e event.UpdateEvent) bool {
	old, now := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler), e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
	return !equality.Semantic.DeepEqual(old.ObjectMeta.Labels, now.ObjectMeta.Labels) || !equality.Semantic.DeepEqual(old.Spec, now.Spec) ||
		!maps.Equal(old.Annotations, now.Annotations) || !equality.Semantic.DeepEqual(old.OwnerReferences, now.OwnerReferences) ||
		!equality.Semantic.DeepEqual(old.DeletionTimestamp, now.DeletionTimestamp) || scalerState(old) != scalerState(now)
})

// scalerState returns what an autoscaler reports about its metrics and about scaling, without numbers that change
// often.
func scalerState(scaler *autoscalingv2.HorizontalPodAutoscaler) [2]string {
	active, able := said(scaler, autoscalingv2.ScalingActive), said(scaler, autoscalingv2.AbleToScale)
	return [2]string{string(active.Status) + active.Reason, string(able.Status)}
}

var claimsChanged = kit.Updates(func(e event.UpdateEvent) bool {
	old, now := e.ObjectOld.(*customv1.MicroServiceDeploy), e.ObjectNew.(*customv1.MicroServiceDeploy)
	return !slices.Equal(hosts.Claimed(old), hosts.Claimed(now)) || hosts.Insists(old) != hosts.Insists(now) ||
		!slices.Equal(old.Status.Hosts, now.Status.Hosts)
})
