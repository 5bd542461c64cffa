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
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/schedule"
)

// agenda is what a schedule asks for at a time.
type agenda struct {
	// wrong says why the schedule cannot be kept.
	wrong string
	// due is the latest time that has come and was not acted upon, zero for none; next the one to come.
	due, next time.Time
	// skip: a run is at work and the next one is not to join it.
	skip bool
	// waits are the runs that the one that is due takes the place of, and that have not ended
	// yet; late reports whether it has waited long for them.
	waits []string
	late  bool
	// obstacle, if any, keeps the run that is due from being made.
	obstacle *obstacle
}

func (r *reconciler) observeSchedule(ctx context.Context, a *egov1.Activity, f *facts) error {
	list := &egov1.ActivityList{}
	if err := r.Client.List(ctx, list, client.InNamespace(a.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("list Activities of the schedule: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], a) { // a label alone is anybody's
			f.children = append(f.children, list.Items[i])
		}
	}
	f.agenda = agendaOf(a, *f, r.Clock.Now())
	if f.agenda.due.IsZero() || f.agenda.skip || idle(a) {
		return nil
	}
	var err error
	f.agenda.obstacle, err = r.vouched(ctx, a)
	return err
}

// agendaOf says what is due. Of times that were missed only the latest is made up for.
func agendaOf(a *egov1.Activity, f facts, now time.Time) agenda {
	s, err := schedule.Parse(*a.Spec.Schedule, ptr.Deref(a.Spec.TimeZone, ""))
	if err != nil {
		return agenda{wrong: err.Error()}
	}
	out := agenda{next: s.Next(now)}
	if out.next.IsZero() {
		return agenda{wrong: fmt.Sprintf("schedule %q never comes", *a.Spec.Schedule)}
	}
	since := a.CreationTimestamp.Time
	if a.Status.LastScheduleTime != nil {
		since = a.Status.LastScheduleTime.Time
	}
	out.due = s.Latest(since, now)
	out.skip = policyOf(a) == egov1.ForbidConcurrent && len(f.atWork()) > 0
	if policyOf(a) == egov1.ReplaceConcurrent && !out.due.IsZero() {
		out.waits, out.late = f.giveWay(occurrenceName(a, out.due)), now.Sub(out.due) >= waitsLong
	}
	return out
}

// waitsLong is how long a run may wait for the end of those that it takes the place of, and
// pass for kept in time.
const waitsLong = time.Minute

// giveWay are the runs that have not ended, and after which one of a name is made: two that
// are at work at once would be what the policy is to prevent. One that is there was made.
func (f facts) giveWay(name string) []string {
	var out []string
	for _, c := range f.children {
		switch {
		case c.Name == name:
			return nil
		case !over(&c):
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return out
}

func policyOf(a *egov1.Activity) egov1.ConcurrencyPolicy {
	return cmp.Or(a.Spec.ConcurrencyPolicy, egov1.ForbidConcurrent)
}

// atWork are the Activities of a schedule that have not ended.
func (f facts) atWork() []egov1.Activity {
	return slices.DeleteFunc(slices.Clone(f.children), func(c egov1.Activity) bool { return over(&c) })
}

// keepSchedule makes the run that is due, and removes those that are too many.
func (r *reconciler) keepSchedule(a *egov1.Activity, f facts, now time.Time) kit.Plan {
	g := f.agenda
	if g.wrong != "" || idle(a) {
		return kit.Plan{}
	}
	plan := kit.Plan{Again: max(time.Second, g.next.Sub(now))}
	if g.obstacle != nil {
		plan.Again = min(plan.Again, obstacleInterval)
	}
	if !g.due.IsZero() && !g.skip && g.obstacle == nil {
		r.replace(a, f, &plan, now)
	}
	if old := f.tooMany(a); old != nil {
		plan.Step = r.delete("remove an old run", old)
	}
	return plan
}

// replace makes the run that is due when those have ended that it takes the place of. Their
// end wakes the schedule.
func (r *reconciler) replace(a *egov1.Activity, f facts, plan *kit.Plan, now time.Time) {
	g := f.agenda
	if policyOf(a) == egov1.ReplaceConcurrent {
		plan.Patches = cancels(f.atWork(), occurrenceName(a, g.due))
	}
	switch {
	case len(g.waits) == 0:
		plan.Children = []ensure.Child{{Object: occurrence(a, g.due)}}
	case !g.late:
		plan.Again = min(plan.Again, max(time.Second, g.due.Add(waitsLong).Sub(now)))
	}
}

// tooMany is the oldest run beyond what is kept, nil for none.
func (f facts) tooMany(a *egov1.Activity) *egov1.Activity {
	for _, keep := range []struct {
		limit     int32
		succeeded bool
	}{
		{ptr.Deref(a.Spec.SuccessfulRunsHistoryLimit, egov1.DefaultSuccessfulRuns), true},
		{ptr.Deref(a.Spec.FailedRunsHistoryLimit, egov1.DefaultFailedRuns), false},
	} {
		ended := slices.DeleteFunc(slices.Clone(f.children), func(c egov1.Activity) bool {
			return !over(&c) || c.DeletionTimestamp != nil || (c.Status.Prosta == egov1.StateSucceeded) != keep.succeeded
		})
		if len(ended) > int(keep.limit) {
			oldest := slices.MinFunc(ended, func(x, y egov1.Activity) int { return x.CreationTimestamp.Compare(y.CreationTimestamp.Time) })
			return &oldest
		}
	}
	return nil
}

// idle reports whether a schedule makes no runs because someone said so.
func idle(a *egov1.Activity) bool { return ptr.Deref(a.Spec.Suspend, false) || a.Spec.Cancel }
