// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// fleetFacts is what was read about a fleet. Its objects belong to the cache, so they must not be changed.
type fleetFacts struct {
	children []*egov1.Activity
	hosts    []fleet.Host
	// obstacle is what prevents the creation of Activities; nil if nothing does, or if none is to be created. fresh is
	// true if the API server has the same version of the fleet as the cache.
	obstacle *run.Obstacle
	fresh    bool
}

// fleets reads what a fleet needs.
type fleets struct{ *reconciler }

// observe reads the hosts of a fleet and their Activities. If an Activity is to be created, it also checks whether
// that is still allowed.
func (r fleets) observe(ctx context.Context, a *egov1.Activity, f *facts) error {
	if a.DeletionTimestamp != nil {
		return nil
	}
	out := &f.fleet
	var err error
	if out.children, err = r.childrenOf(ctx, a); err != nil || a.Status.Run != run.Number(a) || run.Over(a) {
		return err
	}
	o := fleet.Observed{Children: out.children}
	if o.Nodes, err = r.nodesOf(ctx, a); err != nil {
		return err
	}
	out.hosts = fleet.HostsOf(a, o)
	switch v := fleet.Decide(fleetInput(a, *out, r.Clock.Now())); {
	case v.Drop:
		return r.findUnseen(ctx, a, out)
	case v.Create:
		return r.observeStart(ctx, a, out)
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

// findUnseen reads the Activities of hosts that the status records as starting, before opcrew decides that they do not
// start. The cache may not show an Activity that opcrew has just created.
func (r fleets) findUnseen(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	for i := range out.hosts {
		h := &out.hosts[i]
		if !h.Starting || h.State() != "" {
			continue
		}
		child := &egov1.Activity{}
		key := types.NamespacedName{Namespace: a.Namespace, Name: fleet.ChildName(a.Name, run.Number(a), h.Name)}
		err := r.Live.Get(ctx, key, child)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Activity %s: %w", key.Name, err)
		}
		if err == nil && metav1.IsControlledBy(child, a) {
			h.Child = child
		}
	}
	return nil
}

// fleetInput returns the input of the rules.
func fleetInput(a *egov1.Activity, f fleetFacts, now time.Time) *fleet.Input {
	in := &fleet.Input{
		Limits: a.Spec.Hosts.FleetLimits, Hosts: f.hosts, Now: now, Selection: selectionText(a.Spec.Hosts),
		Cancelled: a.Spec.Cancel, Lost: fleet.Lost(a, f.hosts), Obstacle: f.obstacle,
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
