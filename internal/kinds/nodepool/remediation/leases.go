// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Renewed returns when kubelets have renewed their leases, by node. Leases change every ten seconds, so they are read
// from the API server and not cached.
func Renewed(ctx context.Context, live client.Reader) (map[string]time.Time, error) {
	list, out := &coordinationv1.LeaseList{}, map[string]time.Time{}
	err := live.List(ctx, list, client.InNamespace(corev1.NamespaceNodeLease))
	if apierrors.IsForbidden(err) {
		return out, nil // without leases no machine is fenced
	}
	if err != nil {
		return nil, fmt.Errorf("list the leases of nodes: %w", err)
	}
	for _, l := range list.Items {
		if l.Spec.RenewTime != nil {
			out[l.Name] = l.Spec.RenewTime.Time
		}
	}
	return out, nil
}
