// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// Cordon the nodes of fleets with hosts.drain, and uncordon them.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=patch
// Find the pods of a node that a fleet drains.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// Evict the pods of a node before the command of a fleet runs there.
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create
// Find out which PodDisruptionBudgets forbid an eviction.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=list

// observeDrains reads what the drains of the hosts need that the status records as starting. A drain that has failed is
// the result of its host.
func (r fleets) observeDrains(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	all := &corev1.NodeList{}
	if err := r.Client.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	nodes := map[string]*corev1.Node{}
	for i := range all.Items {
		nodes[all.Items[i].Name] = &all.Items[i]
		r.markUnseen(&all.Items[i], out)
	}
	for i := range out.hosts {
		h := &out.hosts[i]
		if !h.Draining() {
			continue
		}
		d := fleet.Drain{Host: h.Name, Node: nodes[h.Name], Alone: len(nodes) == 1, Unseen: out.unseen[h.Name]}
		if h.Held {
			d.Held = h.Problem
		}
		if err := r.observeDrain(ctx, a, &d); err != nil {
			return err
		}
		if why := fleet.Overdue(a, d, r.Clock.Now()); why != nil {
			if err := r.fail(ctx, a, h, why); err != nil {
				return err
			}
			continue
		}
		out.drains = append(out.drains, d)
	}
	return nil
}

// observeDrain reads what the next step of a drain needs. The cache may be stale, so a node counts as drained only if
// the API server still has the cordon.
func (r fleets) observeDrain(ctx context.Context, a *egov1.Activity, d *fleet.Drain) error {
	var err error
	switch fleet.DrainStep(a, *d) {
	case fleet.CordonNode:
		d.Refused, err = r.refusal(ctx, a, d.Node)
		return err
	case fleet.Evict:
		in, err := r.refused.Observe(ctx, r.Live, d.Host, claims.CordonOf(d.Node).At)
		if err != nil {
			return err
		}
		d.Plan = drainPlan(in, r.Clock.Now())
	default:
		return nil
	}
	if !d.Plan.Done() {
		return nil
	}
	live := &corev1.Node{}
	if err := r.Live.Get(ctx, types.NamespacedName{Name: d.Host}, live); err != nil {
		return fmt.Errorf("read node %s: %w", d.Host, err)
	}
	d.Node = live
	return nil
}

// fail makes the failed drain of a host its result, unless its Activity exists: the cache may not show it yet.
func (r fleets) fail(ctx context.Context, a *egov1.Activity, h *fleet.Host, why *run.Obstacle) error {
	if err := r.findChild(ctx, a, h); err != nil || h.Child != nil {
		return err
	}
	h.Fail(why)
	return nil
}
