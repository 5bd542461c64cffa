// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestWhatAScheduleAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		schedule, zone string
		last           time.Duration // time of the last run, relative to now
		now            time.Time
		due, next      string
		wrong          string
	}{
		"nothing is due yet":           {"0 * * * *", "", 0, activitytest.Noon.Add(time.Minute), "", "2026-08-01T13:00:00Z", ""},
		"an hour is due":               {"0 * * * *", "", time.Hour, activitytest.Noon.Add(30 * time.Second), "2026-08-01T12:00:00Z", "2026-08-01T13:00:00Z", ""},
		"of many missed only the last": {"* * * * *", "", 10 * 365 * 24 * time.Hour, activitytest.Noon, "2026-08-01T12:00:00Z", "2026-08-01T12:01:00Z", ""},
		"one that is rare is found":    {"0 0 29 2 *", "", 3 * 366 * 24 * time.Hour, activitytest.Noon, "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z", ""},
		"its own time zone":            {"0 3 * * *", "Europe/Berlin", 24 * time.Hour, activitytest.Noon, "2026-08-01T03:00:00+02:00", "2026-08-02T03:00:00+02:00", ""},
		"a zone that is none":          {"0 3 * * *", "Mars/Base", 0, activitytest.Noon, "", "", "write a time zone such as Europe/Berlin"},
		"the zone of the operator":     {"0 3 * * *", "Local", 0, activitytest.Noon, "", "", "write a time zone such as Europe/Berlin"},
		"a zone in the schedule":       {"TZ=UTC 0 3 * * *", "", 0, activitytest.Noon, "", "", "into timeZone"},
		"six fields":                   {"0 0 3 * * *", "", 0, activitytest.Noon, "", "", "five fields"},
		"a day that never comes":       {"0 0 31 2 *", "", 0, activitytest.Noon, "", "", "never becomes due"},
		"text that is no schedule":     {"now and then", "", 0, activitytest.Noon, "", "", "five fields"},
		"how often and not when":       {"@every 1h", "", 0, activitytest.Noon, "", "", "state the times instead"},
	} {
		t.Run(name, func(t *testing.T) {
			a := activitytest.New()
			a.Spec.Schedule = &c.schedule
			if c.zone != "" {
				a.Spec.TimeZone = &c.zone
			}
			a.Status.LastScheduleTime = &metav1.Time{Time: c.now.Add(-c.last)}
			got := agendaOf(a, nil, c.now)
			activitytest.Check(t, "due", text(got.due), c.due)
			activitytest.Check(t, "next", text(got.next), c.next)
			if !strings.Contains(got.wrong, c.wrong) || (c.wrong == "") != (got.wrong == "") {
				t.Errorf("expected %q, got %q", c.wrong, got.wrong)
			}
		})
	}
}

func text(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}

func TestAScheduleAndRunsThatAreAtWork(t *testing.T) {
	child := func(name string, state egov1.State, age time.Duration) egov1.Activity {
		c := *activitytest.New(activitytest.InState(state))
		c.Name, c.CreationTimestamp = name, metav1.NewTime(activitytest.Noon.Add(-age))
		return c
	}
	busy := []egov1.Activity{child("sysctl-1", egov1.StateRunning, time.Hour)}
	ending := []egov1.Activity{child("sysctl-1", egov1.StateRunning, time.Hour)}
	ending[0].Spec.Cancel = true
	due := child(occurrenceName(activitytest.New(), activitytest.Noon), egov1.StatePending, 0)
	many := []egov1.Activity{
		child("sysctl-1", egov1.StateSucceeded, 4*time.Hour), child("sysctl-2", egov1.StateFailed, 3*time.Hour),
		child("sysctl-3", egov1.StateSucceeded, 2*time.Hour),
	}
	policy := func(p egov1.ConcurrencyPolicy) activitytest.Option {
		return func(a *egov1.Activity) { a.Spec.ConcurrencyPolicy = p }
	}
	keep := func(n int32) activitytest.Option {
		return func(a *egov1.Activity) { a.Spec.SuccessfulRunsHistoryLimit = &n }
	}
	for name, c := range map[string]struct {
		object *egov1.Activity
		facts  facts
		want   does
	}{
		"a run is made":                 {activitytest.New(activitytest.EveryHour), facts{}, does{children: 1, again: time.Hour}},
		"none beside one at work":       {activitytest.New(activitytest.EveryHour), facts{children: busy}, does{again: time.Hour}},
		"unless that is allowed":        {activitytest.New(activitytest.EveryHour, policy(egov1.AllowConcurrent)), facts{children: busy}, does{children: 1, again: time.Hour}},
		"or the one at work gives way":  {activitytest.New(activitytest.EveryHour, policy(egov1.ReplaceConcurrent)), facts{children: busy}, does{patches: 1, again: waitsLong}},
		"whose end is waited for":       {activitytest.New(activitytest.EveryHour, policy(egov1.ReplaceConcurrent)), facts{children: ending}, does{again: waitsLong}},
		"and then it is made":           {activitytest.New(activitytest.EveryHour, policy(egov1.ReplaceConcurrent)), facts{children: many[1:2]}, does{children: 1, again: time.Hour}},
		"one that is made waits not":    {activitytest.New(activitytest.EveryHour, policy(egov1.ReplaceConcurrent)), facts{children: append(ending, due)}, does{children: 1, again: time.Hour}},
		"old runs go, the oldest first": {activitytest.New(activitytest.EveryHour, keep(1)), facts{children: many}, does{children: 1, step: "delete an old run", again: time.Hour}},
		"as many as are wanted stay":    {activitytest.New(activitytest.EveryHour, keep(2)), facts{children: many}, does{children: 1, again: time.Hour}},
		"suspended, it makes none":      {activitytest.New(activitytest.EveryHour, func(a *egov1.Activity) { a.Spec.Suspend = new(true) }), facts{}, does{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.object.Status.LastScheduleTime = &metav1.Time{Time: activitytest.Noon.Add(-time.Hour)}
			c.facts.agenda = agendaOf(c.object, c.facts.children, activitytest.Noon)
			activitytest.Check(t, "plan", summary(planAt(c.object, c.facts, activitytest.Noon)), c.want)
		})
	}
}

// If the API server rejects the run that is due, the status must not report that the run was created.
func TestWhatAScheduleReportsARunThatIsDue(t *testing.T) {
	due := agenda{due: activitytest.Noon, next: activitytest.Noon.Add(time.Hour)}
	taken := kit.Outcome{Results: []ensure.Result{{Action: ensure.Taken, Message: "it is ada's"}}}
	for name, c := range map[string]struct {
		agenda agenda
		done   kit.Outcome
		reason string
		counts bool
	}{
		"it is made":                 {due, kit.Outcome{Results: []ensure.Result{{Action: ensure.Created}}}, egov1.ReasonScheduled, true},
		"its name is taken":          {due, taken, common.ReasonNameTaken, false},
		"it is refused":              {due, kit.Outcome{Err: errors.New("quota")}, common.ReasonRefused, false},
		"it is held back":            {due, kit.Outcome{Held: 1}, common.ReasonPaused, false},
		"the policy is missing":      {agenda{due: activitytest.Noon, next: due.next, obstacle: &run.Obstacle{Reason: egov1.ReasonPolicyMissing}}, kit.Outcome{}, egov1.ReasonPolicyMissing, false},
		"it waits for another's end": {agenda{due: activitytest.Noon, next: due.next, waits: []string{"sysctl-1"}}, kit.Outcome{}, egov1.ReasonScheduled, false},
		"it waits for one for long":  {agenda{due: activitytest.Noon, next: due.next, waits: []string{"sysctl-1"}, late: true}, kit.Outcome{}, egov1.ReasonWaiting, false},
		"one is at work already":     {agenda{due: activitytest.Noon, next: due.next, skip: true}, kit.Outcome{}, egov1.ReasonScheduled, true},
	} {
		a := activitytest.New(activitytest.EveryHour)
		reportAt(a, facts{agenda: c.agenda}, c.done, activitytest.Noon)
		ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
		if waits := len(c.agenda.waits) > 0; waits != strings.Contains(ready.Message, "waits for the end of the previous run (sysctl-1)") {
			t.Errorf("%s: expected the message to name what it waits for: %t, got %q", name, waits, ready.Message)
		}
		if ready.Reason != c.reason || (a.Status.LastScheduleTime != nil) != c.counts {
			t.Errorf("%s: expected reason %s, counted %t, got %+v and %v", name, c.reason, c.counts, ready, a.Status.LastScheduleTime)
		}
	}
}
