// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// ownerByLabels enqueues the AppService of a pod or ReplicaSet.
var ownerByLabels = workload.OwnerByLabels(appName, instanceLabel)
