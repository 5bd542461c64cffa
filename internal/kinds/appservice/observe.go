// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler is keyed by an AppService.
type reconciler struct{ *kit.Tools }

// facts holds all that is read about an AppService.
type facts struct {
	rollout workload.Rollout
	// nodePorts has the owners of nodePorts that were refused.
	nodePorts workload.NodePorts
}

// Observe reads the Deployment with its pods.
func (r *reconciler) Observe(ctx context.Context, a *appv1.AppService) (facts, error) {
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

// ownerByLabels enqueues the AppService that a pod or ReplicaSet belongs to, by its labels, as it is not their direct
// owner.
func ownerByLabels(_ context.Context, object client.Object) []reconcile.Request {
	labels := object.GetLabels()
	if labels[nameLabel] != appName || labels[instanceLabel] == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: labels[instanceLabel]}}}
}
