// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

// Observe reads the MicroServiceDeploys of a namespace and the objects that they share.
func (r *reconciler) Observe(ctx context.Context, ns *corev1.Namespace) (facts, error) {
	f, err := r.observe(ctx, ns)
	if err != nil {
		r.troubles.unread(ns.Name, err)
	}
	return f, err
}

func (r *reconciler) observe(ctx context.Context, ns *corev1.Namespace) (facts, error) {
	f := facts{}
	var err error
	if f.Tenant, err = ReadInstances(ctx, r.Client, ns); err != nil {
		return f, err
	}
	if f.Quotas, err = ReadQuotas(ctx, r.Client, ns); err != nil {
		return f, err
	}
	if len(f.Instances) == 0 {
		if ns.DeletionTimestamp == nil && (len(f.Quotas) > 0 || r.hasCredentials(ctx, ns)) {
			f.behind, err = r.anyLive(ctx, ns.Name)
		}
		return f, err
	}
	if f.Overheads, err = ReadOverheads(ctx, r.Client); err != nil {
		return f, err
	}
	if f.Others, err = r.around.Others(ctx, ns); err != nil {
		return f, err
	}
	if f.Lacks() {
		if f.Leaving, err = departing(ctx, r.Client, f.Tenant, ns.Name); err != nil {
			return f, err
		}
	}
	f.credentials, err = r.observeCredentials(ctx, ns, f.asksForCredentials())
	return f, err
}

// hasCredentials reports whether there are shared credentials that could be deleted.
func (r *reconciler) hasCredentials(ctx context.Context, ns *corev1.Namespace) bool {
	return r.Client.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: names.TenantAuth}, &corev1.Secret{}) == nil
}

// anyLive reads from the API server whether there is a MicroServiceDeploy. It is called before shared objects are
// deleted, because the cache may be stale.
func (r *reconciler) anyLive(ctx context.Context, namespace string) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(customv1.GroupVersion.WithKind("MicroServiceDeployList"))
	if err := r.Live.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return false, fmt.Errorf("search for instances: %w", err)
	}
	return len(list.Items) > 0, nil
}
