// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// findUnseen reads the Activities of hosts that the status records as starting, before opcrew decides that they do not
// start. The cache may not show an Activity that opcrew has just created.
func (r fleets) findUnseen(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	for i := range out.hosts {
		if h := &out.hosts[i]; h.Unseen() {
			if err := r.findChild(ctx, a, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// findChild reads the Activity of a host from the API server.
func (r fleets) findChild(ctx context.Context, a *egov1.Activity, h *fleet.Host) error {
	child := &egov1.Activity{}
	key := types.NamespacedName{Namespace: a.Namespace, Name: fleet.ChildName(a.Name, run.Number(a), h.Name)}
	err := r.Live.Get(ctx, key, child)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Activity %s: %w", key.Name, err)
	}
	if err == nil && metav1.IsControlledBy(child, a) {
		h.Child = child
	}
	return nil
}

// markUnseen notes that the cache does not show the operator's last write of a node.
func (r fleets) markUnseen(node *corev1.Node, out *fleetFacts) {
	if !r.Children.Behind(corev1.SchemeGroupVersion.WithKind("Node"), node) {
		return
	}
	if out.unseen == nil {
		out.unseen = map[string]bool{}
	}
	out.unseen[node.Name] = true
}
