// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler reconciles AppServices.
type reconciler struct{ *kit.Tools }

// facts holds everything that is read about an AppService.
type facts struct {
	rollout workload.Rollout
	// nodePorts names the Services that already use the nodePorts of this AppService.
	nodePorts workload.NodePorts
}

// Observe reads the Deployment and its pods. If the namespace enforces a security profile, Observe sets that profile in
// the spec in memory, as if the user had set it.
func (r *reconciler) Observe(ctx context.Context, a *appv1.AppService) (facts, error) {
	ns := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: a.Namespace}, ns); client.IgnoreNotFound(err) != nil {
		return facts{}, fmt.Errorf("read namespace: %w", err)
	}
	a.Spec.SecurityProfile = workload.Profile(a.Spec.SecurityProfile, ns)
	rollout, err := workload.ObserveRollout(ctx, r.Client, a, identity(a))
	if err != nil {
		return facts{}, err
	}
	if rollout.Deployment != nil {
		rollout.Recall(r.Children)
	}
	f := facts{rollout: rollout}
	if reported := meta.FindStatusCondition(a.Status.Conditions, appv1.AppServiceChildrenReady); reported != nil && reported.Reason == common.ReasonNodePortTaken {
		f.nodePorts, err = workload.ObserveNodePorts(ctx, r.Live, identity(a), a.Spec.Ports)
	}
	return f, err
}

// objectsIn enqueues the AppServices of a namespace.
func (r *reconciler) objectsIn(ctx context.Context, ns client.Object) []reconcile.Request {
	list := &appv1.AppServiceList{}
	if err := r.Client.List(ctx, list, client.InNamespace(ns.GetName()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache has stopped
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// ownerByLabels enqueues the AppService of a pod or ReplicaSet. It uses labels, because the direct owner of the pod or
// ReplicaSet is not the AppService.
func ownerByLabels(_ context.Context, object client.Object) []reconcile.Request {
	labels := object.GetLabels()
	if labels[nameLabel] != appName || labels[instanceLabel] == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: labels[instanceLabel]}}}
}
