// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// beginning is what has to be known before a pod is made.
type beginning struct {
	// obstacle, if any, keeps it from being made.
	obstacle *obstacle
	// values are those of secretEnvs, by the variables' names.
	values map[string][]byte
	// order is what the runner is told, and boot tells the host's present boot from the next.
	order, boot string
}

// obstacle is why a run does not begin. A final one ends it.
type obstacle struct {
	final           bool
	reason, message string
}

// observeBeginning asks whether the run may begin, and reads what it needs.
func (r *reconciler) observeBeginning(ctx context.Context, a *egov1.Activity) (*beginning, error) {
	node := &corev1.Node{}
	err := r.Live.Get(ctx, types.NamespacedName{Name: a.Spec.Host}, node)
	if apierrors.IsNotFound(err) {
		return &beginning{obstacle: &obstacle{reason: egov1.ReasonHostMissing, message: "there is no node " + a.Spec.Host}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", a.Spec.Host, err)
	}
	b := &beginning{boot: node.Status.NodeInfo.BootID}
	if b.obstacle, err = r.permit(ctx, a, node); err != nil || b.obstacle != nil {
		return b, err
	}
	if b.values, b.obstacle, err = r.values(ctx, a); err != nil || b.obstacle != nil {
		return b, err
	}
	oldest, err := r.oldestOn(ctx, a.Spec.Host)
	if err != nil {
		return nil, err
	}
	if b.order, err = orderOf(a, oldest, b.boot); err != nil {
		b.obstacle = &obstacle{final: true, reason: egov1.ReasonNotStarted, message: err.Error()}
	}
	return b, nil
}

// mayRun reports whether a pod of an Activity may still be begun somewhere.
func mayRun(a *egov1.Activity) bool {
	return !over(a) || a.Status.Prosta == egov1.StateUnreachable || a.Status.Prosta == egov1.StateUnknown
}

// oldestOn is when the oldest Activity of a host that may still run was created: the host may
// forget runs of older ones. Anyone who does not see all Activities tells it nothing.
func (r *reconciler) oldestOn(ctx context.Context, host string) (time.Time, error) {
	oldest := time.Time{}
	if r.Limited() {
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
