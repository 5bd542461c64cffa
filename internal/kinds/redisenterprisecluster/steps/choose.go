// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Choose adds at most one step and its events to a plan. Settings come first, because without the passwords among them
// clients may be unable to log in. Pods are restarted last, when the Redis cluster needs no other step.
func (r *Runner) Choose(in Input, plan *kit.Plan) {
	d := in.Decision
	take := func(ctx context.Context) error { return r.take(ctx, in) }
	switch {
	case d.Step == ring.Step(redis.StopMove{}):
		// This case comes first. If opcrew took another step first, the move that must stop would continue until that
		// step is done.
		plan.Step = &kit.Step{Name: d.Step.String(), Why: d.Why.Doing, DuringPause: true, Do: take}
	case len(in.Pending) > 0 && !in.Stale:
		plan.Step = &kit.Step{Name: "give servers their settings", Do: func(ctx context.Context) error { return r.tune(ctx, in) }}
	case d.Restart != nil && (observed.Broken(d.Restart) || d.Step == nil):
		pod := d.Restart
		plan.Step = &kit.Step{Name: "restart pod " + pod.Name, Do: func(ctx context.Context) error { return r.restart(ctx, pod) }}
		plan.Events = []kit.Event{{Related: pod, Reason: "PodRestarted", Action: "Restart", Note: "Pod " + pod.Name + " is being recreated because it does not match the spec"}}
	case d.Step != nil:
		plan.Step = &kit.Step{Name: d.Step.String(), Why: d.Why.Doing, Do: take}
		plan.Events = events(d, observed.Formed(in.Cluster))
	}
}

// events returns the events for steps that users should know about. formed is true if the cluster once served all
// slots: a step that assigns slots to new servers then means that all data is lost.
func events(d decide.Decision, formed bool) []kit.Event {
	switch d.Step.(type) {
	case redis.AssignSlots:
		switch {
		case len(d.Ring.GivenUp) > 0:
			return []kit.Event{{Warning: true, Reason: "DataLossAccepted", Action: "AssignSlots", Note: d.Why.Doing + ", because annotation " + redisv1alpha1.AcceptDataLossAnnotation + " accepts the loss"}}
		case formed:
			return []kit.Event{{Warning: true, Reason: "StartedOver", Action: "Create", Note: "All servers are new and have no data, so the cluster has started again without data"}}
		}
	case redis.Takeover:
		return []kit.Event{{Warning: true, Reason: "Takeover", Action: "TakeOver", Note: d.Why.Doing}}
	case redis.ForceFailover:
		return []kit.Event{{Warning: true, Reason: "FailoverForced", Action: "FailOver", Note: d.Why.Doing}}
	case redis.TakeLead:
		return []kit.Event{{Reason: "LeadMoved", Action: "FailOver", Note: d.Why.Doing}}
	case redis.MoveSlots:
		return []kit.Event{{Reason: "SlotsMoving", Action: "MoveSlots", Note: d.Why.Doing}}
	}
	return nil
}
