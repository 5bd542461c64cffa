// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kinds/activity/runpod"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// observeBeginning checks whether the run of an Activity may start, and reads what the run needs.
func (r *reconciler) observeBeginning(ctx context.Context, a *egov1.Activity) (*run.Start, error) {
	if run.OverSSH(a) {
		return r.observeSSH(ctx, a)
	}
	node := &corev1.Node{}
	err := r.Live.Get(ctx, types.NamespacedName{Name: a.Spec.Host}, node)
	if apierrors.IsNotFound(err) {
		return &run.Start{Obstacle: &run.Obstacle{Reason: egov1.ReasonHostMissing, Message: "the cluster has no node named " + a.Spec.Host}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", a.Spec.Host, err)
	}
	b := &run.Start{Boot: node.Status.NodeInfo.BootID, Drained: isDrained(a, node)}
	if b.Obstacle, err = r.permit(ctx, a, node); err != nil || b.Obstacle != nil {
		return b, err
	}
	if b.Values, b.Obstacle, err = r.values(ctx, a); err != nil || b.Obstacle != nil {
		return b, err
	}
	oldest, err := r.oldestOn(ctx, a.Spec.Host)
	if err != nil {
		return nil, err
	}
	if b.Order, err = runpod.Order(a, oldest, b.Boot); err != nil {
		b.Obstacle = &run.Obstacle{Final: true, Reason: egov1.ReasonNotStarted, Message: err.Error()}
	}
	return b, nil
}

// isDrained reports whether the fleet of an Activity has cordoned the node.
func isDrained(a *egov1.Activity, node *corev1.Node) bool {
	cordon, by := claims.CordonOf(node), metav1.GetControllerOf(a)
	return cordon != nil && by != nil && cordon.UID == by.UID && node.Spec.Unschedulable
}

// observeSSH checks whether a run over SSH may start, and reads what it needs. No node belongs to it, and the operator
// does not connect to the host.
func (r *reconciler) observeSSH(ctx context.Context, a *egov1.Activity) (*run.Start, error) {
	b := &run.Start{}
	var err error
	if b.Obstacle, err = r.permit(ctx, a, &corev1.Node{}); err != nil || b.Obstacle != nil {
		return b, err
	}
	if b.Values, b.Obstacle, err = r.values(ctx, a); err != nil || b.Obstacle != nil {
		return b, err
	}
	if b.Order, err = runpod.Order(a, time.Time{}, ""); err != nil {
		b.Obstacle = &run.Obstacle{Final: true, Reason: egov1.ReasonNotStarted, Message: err.Error()}
	}
	return b, nil
}

// mayRun reports whether a pod of an Activity may still start its command on the host.
func mayRun(a *egov1.Activity) bool {
	return !run.Over(a) || a.Status.Prosta == egov1.StateUnreachable || a.Status.Prosta == egov1.StateUnknown
}

// oldestOn returns the creation time of the oldest Activity of a host that may still run. Marker files on the host
// prevent a second execution of a run; the host may delete the marker files of runs before this time. It returns zero
// if opcrew does not watch all namespaces.
func (r *reconciler) oldestOn(ctx context.Context, host string) (time.Time, error) {
	oldest := time.Time{}
	if len(r.Namespaces) > 0 {
		return oldest, nil
	}
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{hostIndex: host}, client.UnsafeDisableDeepCopy); err != nil {
		return oldest, fmt.Errorf("list Activities of host %s: %w", host, err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if created := other.CreationTimestamp.Time; mayRun(other) && (oldest.IsZero() || created.Before(oldest)) {
			oldest = created
		}
	}
	return oldest, nil
}
