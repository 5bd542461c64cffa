// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// observeLeaving reads what a deleted fleet must undo. The cache may not show its last cordons and Activities, which can
// only be those of hosts that the status records as starting.
func (r fleets) observeLeaving(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	if a.Status.Fleet == nil {
		return nil
	}
	for _, name := range a.Status.Fleet.Starting {
		h := &fleet.Host{Name: name}
		if err := r.findChild(ctx, a, h); err != nil {
			return err
		}
		if h.Child != nil {
			out.children = append(out.children, h.Child)
		}
		if slices.ContainsFunc(out.cordoned, func(n *corev1.Node) bool { return n.Name == name }) {
			continue
		}
		node := &corev1.Node{}
		err := r.Live.Get(ctx, types.NamespacedName{Name: name}, node)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read node %s: %w", name, err)
		}
		if err == nil && fleet.Owns(a, node) {
			out.cordoned = append(out.cordoned, node)
		}
	}
	return nil
}

// leave deletes the active Activities of a deleted fleet, uncordons each node when its Activity has ended, and then
// removes the finalizer.
func (r fleets) leave(a *egov1.Activity, f fleetFacts) kit.Plan {
	plan := kit.Plan{}
	active := map[string]bool{}
	var doomed []*egov1.Activity
	for _, child := range f.children {
		if run.Over(child) {
			continue
		}
		active[child.Spec.Host] = true
		if child.DeletionTimestamp == nil {
			doomed = append(doomed, child)
		}
	}
	waits := false
	for _, node := range f.cordoned {
		if active[node.Name] || f.unseen[node.Name] {
			waits = true
			continue
		}
		plan.Patches = append(plan.Patches, uncordonNode(a, node))
	}
	switch {
	case waits && len(doomed) > 0:
		plan.Step = r.deleteAll(doomed)
	case waits:
		plan.Again = hostInterval
	default:
		plan.Release = run.Finalizer
	}
	return plan
}

func (r fleets) deleteAll(all []*egov1.Activity) *kit.Step {
	return &kit.Step{Name: "delete the Activities of hosts", Do: func(ctx context.Context) error {
		var errs []error
		for _, child := range all {
			uid := child.UID
			errs = append(errs, client.IgnoreNotFound(r.Client.Delete(ctx, child.DeepCopy(), client.Preconditions{UID: &uid})))
		}
		return errors.Join(errs...)
	}}
}
