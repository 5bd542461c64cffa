// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// fleets reads what a fleet needs.
type fleets struct{ *reconciler }

// observe reads the hosts of a fleet and their Activities. If an Activity is to be created, it also checks whether
// that is still allowed.
func (r fleets) observe(ctx context.Context, a *egov1.Activity, f *facts) error {
	out := &f.fleet
	var err error
	if out.children, err = r.childrenOf(ctx, a); err != nil {
		return err
	}
	if err = r.cordonedBy(ctx, a, out); err != nil {
		return err
	}
	switch {
	case a.DeletionTimestamp != nil:
		return r.observeLeaving(ctx, a, out)
	case a.Status.Run != run.Number(a) || run.Over(a) && len(out.cordoned) == 0:
		return nil
	}
	o := fleet.Observed{Children: out.children, Operator: r.Node}
	if o.Nodes, err = r.nodesOf(ctx, a); err != nil {
		return err
	}
	out.hosts = fleet.HostsOf(a, o)
	if run.Over(a) {
		return nil
	}
	if len(out.hosts) == 0 && a.Spec.Hosts.NodePool != "" {
		if out.noPool, err = r.noPool(ctx, a.Spec.Hosts.NodePool); err != nil {
			return err
		}
	}
	return r.observeNext(ctx, a, out)
}

// noPool reports whether a NodePool does not exist, also because NodePool is not installed. Only a message depends on it,
// so a missing right prevents nothing.
func (r fleets) noPool(ctx context.Context, name string) (bool, error) {
	pool := &metav1.PartialObjectMetadata{}
	pool.SetGroupVersionKind(nodesv1.GroupVersion.WithKind("NodePool"))
	err := r.Live.Get(ctx, types.NamespacedName{Name: name}, pool)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return true, nil
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return false, fmt.Errorf("read NodePool %s: %w", name, err)
	}
	return false, nil
}

// observeNext reads what the next step of a run needs. A node is only uncordoned if the API server has no Activity of
// its host either.
func (r fleets) observeNext(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	v := fleet.Decide(fleetInput(a, *out, r.Clock.Now()))
	if v.Create {
		if err := r.observeStart(ctx, a, out); err != nil {
			return err
		}
	}
	if v.Drop || !v.Create && len(out.cordoned) > 0 || out.obstacle != nil {
		return r.findUnseen(ctx, a, out)
	}
	return nil
}

func (r fleets) childrenOf(ctx context.Context, a *egov1.Activity) ([]*egov1.Activity, error) {
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.InNamespace(a.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list Activities of the hosts: %w", err)
	}
	var out []*egov1.Activity
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], a) { // the label alone proves nothing, because any user can set it
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

// nodesOf returns the nodes that spec.hosts selects.
func (r fleets) nodesOf(ctx context.Context, a *egov1.Activity) ([]*corev1.Node, error) {
	if a.Spec.Hosts.SSH != nil {
		return nil, nil
	}
	list, names := &corev1.NodeList{}, map[string]bool{}
	if err := r.Client.List(ctx, list, selection(a.Spec.Hosts), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	for _, name := range a.Spec.Hosts.Names {
		names[string(name)] = true
	}
	var out []*corev1.Node
	for i := range list.Items {
		if node := &list.Items[i]; len(names) == 0 || names[node.Name] {
			out = append(out, node)
		}
	}
	return out, nil
}

// selection returns the labels of the nodes of a fleet; none if it names its nodes.
func selection(h *egov1.Hosts) client.ListOption {
	if h.NodePool != "" {
		return client.HasLabels{nodesv1.RolePrefix + h.NodePool}
	}
	labels := client.MatchingLabels{}
	for key, value := range h.NodeSelector {
		labels[key] = string(value)
	}
	return labels
}

// fleetInput returns the input of the rules.
func fleetInput(a *egov1.Activity, f fleetFacts, now time.Time) *fleet.Input {
	in := &fleet.Input{
		Limits: a.Spec.Hosts.FleetLimits, Hosts: f.hosts, Now: now, Selection: selectionText(a.Spec.Hosts),
		Cancelled: a.Spec.Cancel, Lost: fleet.Lost(a, f.hosts), Obstacle: f.obstacle,
		Drains: f.drains, NoPool: f.noPool,
	}
	if a.Spec.Requester == nil {
		in.Obstacle = noRequester()
		return in
	}
	in.Unapproved = fleet.Unapproved(a)
	return in
}

// selectionText describes the hosts of a fleet for messages.
func selectionText(h *egov1.Hosts) string {
	if h.NodePool != "" {
		return "hosts.nodePool " + h.NodePool
	}
	return "hosts.nodeSelector"
}
