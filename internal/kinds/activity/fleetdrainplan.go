// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

// drainPlan decides which pods to evict. A drain does not end the command of another Activity; it waits for its end.
func drainPlan(in *drain.Input, now time.Time) *drain.Plan {
	var commands []drain.Blocked
	in.Now = now
	in.Pods = slices.DeleteFunc(in.Pods, func(pod *corev1.Pod) bool {
		is := pod.Namespace == run.Namespace && !drain.Stays(pod)
		if is {
			id := drain.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
			commands = append(commands, drain.Blocked{Pod: id, Message: "it runs the command of Activity " + pod.Annotations[run.ActivityAnnotation] + ", and the drain waits until it ends"})
		}
		return is
	})
	plan := drain.Next(*in)
	plan.Blocked = append(plan.Blocked, commands...)
	return &plan
}

// planDrains adds the next steps of the drains: cordons, and one step that evicts pods.
func (r fleets) planDrains(a *egov1.Activity, f fleetFacts, now time.Time, plan *kit.Plan) {
	for _, d := range f.drains {
		if fleet.DrainStep(a, d) == fleet.CordonNode {
			plan.Patches = append(plan.Patches, cordonNode(a, d.Node, now))
		}
	}
	if pods := evicts(f.drains); len(pods) > 0 {
		plan.Step = &kit.Step{Name: "evict pods", Why: "nodes are drained for Activity " + a.Namespace + "/" + a.Name,
			Do: func(ctx context.Context) error { return r.evict(ctx, a, pods) }}
	}
}

// evict evicts pods of nodes that this run has cordoned, after it has read the nodes from the API server: a node that
// was uncordoned keeps its pods.
func (r fleets) evict(ctx context.Context, a *egov1.Activity, pods map[string][]drain.Pod) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		live := &corev1.Node{}
		err := r.Live.Get(ctx, types.NamespacedName{Name: name}, live)
		if err != nil || !fleet.Cordoned(a, live) {
			errs = append(errs, client.IgnoreNotFound(err))
			continue
		}
		errs = append(errs, r.refused.All(ctx, r.Client, name, pods[name]))
	}
	return errors.Join(errs...)
}

// begins reports whether the Activity of a host may be created: its node is drained, or need not be.
func (f fleetFacts) begins(a *egov1.Activity, h fleet.Host) bool {
	if !h.Draining() {
		return h.Unseen() && !h.Held
	}
	return slices.ContainsFunc(f.drains, func(d fleet.Drain) bool { return d.Host == h.Name && fleet.DrainStep(a, d) == fleet.Begin })
}

// proceeds reports whether a drain begins, or the Activity of a host is created.
func (f fleetFacts) proceeds(a *egov1.Activity) bool {
	cordons := slices.ContainsFunc(f.drains, func(d fleet.Drain) bool { return fleet.DrainStep(a, d) == fleet.CordonNode })
	return cordons || slices.ContainsFunc(f.hosts, func(h fleet.Host) bool { return f.begins(a, h) })
}

// evicts returns the pods to evict now, by node.
func evicts(drains []fleet.Drain) map[string][]drain.Pod {
	out := map[string][]drain.Pod{}
	for _, d := range drains {
		if d.Plan != nil && len(d.Plan.Evict) > 0 {
			out[d.Host] = d.Plan.Evict
		}
	}
	return out
}
