// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/schedule"
)

func (r *reconciler) observeSchedule(ctx context.Context, a *egov1.Activity, f *facts) error {
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.InNamespace(a.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("list Activities of the schedule: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], a) { // the label alone proves nothing, because any user can set it
			f.children = append(f.children, list.Items[i])
		}
	}
	f.agenda = agendaOf(a, f.children, r.Clock.Now())
	if f.agenda.due.IsZero() || f.agenda.skip || idle(a) {
		return nil
	}
	var err error
	f.agenda.obstacle, err = r.vouched(ctx, a)
	return err
}

// agendaOf determines which run of a schedule is due now, and what prevents it. If several scheduled times have passed
// without a run, only the latest of them is due.
func agendaOf(a *egov1.Activity, children runs, now time.Time) agenda {
	s, err := schedule.Parse(*a.Spec.Schedule, ptr.Deref(a.Spec.TimeZone, ""))
	if err != nil {
		return agenda{wrong: err.Error()}
	}
	out := agenda{next: s.Next(now)}
	if out.next.IsZero() {
		return agenda{wrong: fmt.Sprintf("the schedule %q never becomes due", *a.Spec.Schedule)}
	}
	since := a.CreationTimestamp.Time
	if a.Status.LastScheduleTime != nil {
		since = a.Status.LastScheduleTime.Time
	}
	out.due = s.Latest(since, now)
	out.skip = policyOf(a) == egov1.ForbidConcurrent && len(children.atWork()) > 0
	if policyOf(a) == egov1.ReplaceConcurrent && !out.due.IsZero() {
		out.waits, out.late = children.giveWay(occurrenceName(a, out.due)), now.Sub(out.due) >= waitsLong
	}
	return out
}

// waitsLong is how long a due run may wait for the runs that it replaces before the schedule counts as late.
const waitsLong = time.Minute

// giveWay returns the active runs that must end before the named run is created, because the policy Replace allows only
// one active run. If the named run exists already, giveWay returns no runs.
func (r runs) giveWay(name string) []string {
	var out []string
	for _, c := range r {
		switch {
		case c.Name == name:
			return nil
		case !run.Over(&c):
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return out
}

func policyOf(a *egov1.Activity) egov1.ConcurrencyPolicy {
	return cmp.Or(a.Spec.ConcurrencyPolicy, egov1.ForbidConcurrent)
}

// atWork returns the runs of a schedule that have not ended.
func (r runs) atWork() runs {
	return slices.DeleteFunc(slices.Clone(r), func(c egov1.Activity) bool { return run.Over(&c) })
}

// keepSchedule returns the plan for a schedule: create the run that is due, and delete runs beyond the history limits.
func (r *reconciler) keepSchedule(a *egov1.Activity, children runs, g agenda, now time.Time) kit.Plan {
	if g.wrong != "" || idle(a) {
		return kit.Plan{}
	}
	plan := kit.Plan{Again: max(time.Second, g.next.Sub(now))}
	if g.obstacle != nil {
		plan.Again = min(plan.Again, run.ObstacleInterval)
	}
	if !g.due.IsZero() && !g.skip && g.obstacle == nil {
		replace(a, children.atWork(), g, &plan, now)
	}
	if old := children.tooMany(a); old != nil {
		plan.Step = r.delete("delete an old run", old)
	}
	return plan
}

// replace adds the due run to the plan once the runs that it replaces have ended. Their end triggers another reconcile
// of the schedule.
func replace(a *egov1.Activity, atWork runs, g agenda, plan *kit.Plan, now time.Time) {
	if policyOf(a) == egov1.ReplaceConcurrent {
		plan.Patches = cancels(atWork, occurrenceName(a, g.due))
	}
	switch {
	case len(g.waits) == 0:
		plan.Children = []ensure.Child{{Object: occurrence(a, g.due)}}
	case !g.late:
		plan.Again = min(plan.Again, max(time.Second, g.due.Add(waitsLong).Sub(now)))
	}
}

// tooMany returns the oldest run that exceeds the history limits in the spec; nil if no run exceeds them.
func (r runs) tooMany(a *egov1.Activity) *egov1.Activity {
	for _, keep := range []struct {
		limit     int32
		succeeded bool
	}{
		{ptr.Deref(a.Spec.SuccessfulRunsHistoryLimit, egov1.DefaultSuccessfulRuns), true},
		{ptr.Deref(a.Spec.FailedRunsHistoryLimit, egov1.DefaultFailedRuns), false},
	} {
		ended := slices.DeleteFunc(slices.Clone(r), func(c egov1.Activity) bool {
			return !run.Over(&c) || c.DeletionTimestamp != nil || (c.Status.Prosta == egov1.StateSucceeded) != keep.succeeded
		})
		if len(ended) > int(keep.limit) {
			oldest := slices.MinFunc(ended, func(x, y egov1.Activity) int { return x.CreationTimestamp.Compare(y.CreationTimestamp.Time) })
			return &oldest
		}
	}
	return nil
}

// idle reports whether the user has suspended or cancelled a schedule.
func idle(a *egov1.Activity) bool { return ptr.Deref(a.Spec.Suspend, false) || a.Spec.Cancel }
