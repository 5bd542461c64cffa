// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// observeStart checks whether Activities of single hosts may be created. The cache may be stale: another process may
// have started these hosts, or a user may have cancelled the run. So the fleet is read from the API server.
func (r fleets) observeStart(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(egov1.GroupVersion.WithKind("Activity"))
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(a), live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Activity %s: %w", a.Name, err)
	}
	out.fresh = err == nil && live.UID == a.UID && live.ResourceVersion == a.ResourceVersion
	if !out.fresh {
		return nil
	}
	if err := r.observeDrains(ctx, a, out); err != nil || !out.proceeds(a) {
		return err
	}
	out.obstacle, err = r.permitFleet(ctx, a)
	return err
}

// permitFleet checks whether the requester of a fleet can be trusted, and whether the approver still has the right to
// approve. The rights of the requester are checked for each host when its Activity starts.
func (r fleets) permitFleet(ctx context.Context, a *egov1.Activity) (*run.Obstacle, error) {
	if o, err := r.vouched(ctx, a); err != nil || o != nil {
		return o, err
	}
	if a.Spec.Hosts.Approval == nil || !a.Spec.Hosts.Approval.Required {
		return nil, nil
	}
	by := a.Spec.Hosts.Approval.Approver
	allowed, err := r.may(ctx, by, authorizationv1.ResourceAttributes{
		Verb: "approve", Group: egov1.GroupVersion.Group, Version: "*", Resource: "activities", Namespace: a.Namespace, Name: a.Name,
	})
	if err != nil || allowed {
		return nil, err
	}
	return &run.Obstacle{Reason: egov1.ReasonAwaitingApproval,
		Message: fmt.Sprintf("user %s, who approved the run, no longer has the right to approve Activity %s in namespace %s; another user must approve it: %s", by.Username, a.Name, a.Namespace, fleet.How(a, fleet.Hash(a)))}, nil
}

// unrecorded reports whether the fleet of a deleted Activity must still record the deletion. A fleet that is deleted
// itself need not. The fleet was in the cache before the Activity, so it is gone if the cache does not have it.
func (r *reconciler) unrecorded(ctx context.Context, a *egov1.Activity) (bool, error) {
	by := metav1.GetControllerOf(a)
	if by == nil || by.Kind != "Activity" {
		return false, nil
	}
	owner := &egov1.Activity{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: by.Name}, owner)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read Activity %s: %w", by.Name, err)
	}
	stays := err == nil && owner.UID == by.UID && owner.DeletionTimestamp == nil
	return stays && fleet.Is(owner) && !fleet.Remembers(owner, a), nil
}
