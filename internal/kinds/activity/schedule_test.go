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
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestWhatAScheduleAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		schedule, zone string
		last           time.Duration // before now
		now            time.Time
		due, next      string
		wrong          string
	}{
		"nothing is due yet":           {"0 * * * *", "", 0, noon.Add(time.Minute), "", "2026-08-01T13:00:00Z", ""},
		"an hour is due":               {"0 * * * *", "", time.Hour, noon.Add(30 * time.Second), "2026-08-01T12:00:00Z", "2026-08-01T13:00:00Z", ""},
		"of many missed only the last": {"* * * * *", "", 10 * 365 * 24 * time.Hour, noon, "2026-08-01T12:00:00Z", "2026-08-01T12:01:00Z", ""},
		"one that is rare is found":    {"0 0 29 2 *", "", 3 * 366 * 24 * time.Hour, noon, "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z", ""},
		"its own time zone":            {"0 3 * * *", "Europe/Berlin", 24 * time.Hour, noon, "2026-08-01T03:00:00+02:00", "2026-08-02T03:00:00+02:00", ""},
		"a zone that is none":          {"0 3 * * *", "Mars/Base", 0, noon, "", "", "write one such as Europe/Berlin"},
		"the zone of the operator":     {"0 3 * * *", "Local", 0, noon, "", "", "write one such as Europe/Berlin"},
		"a zone in the schedule":       {"TZ=UTC 0 3 * * *", "", 0, noon, "", "", "into timeZone"},
		"six fields":                   {"0 0 3 * * *", "", 0, noon, "", "", "five fields"},
		"a day that never comes":       {"0 0 31 2 *", "", 0, noon, "", "", "never comes"},
		"text that is no schedule":     {"now and then", "", 0, noon, "", "", "five fields"},
		"how often and not when":       {"@every 1h", "", 0, noon, "", "", "write when, and not how often"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newActivity()
			a.Spec.Schedule = &c.schedule
			if c.zone != "" {
				a.Spec.TimeZone = &c.zone
			}
			a.Status.LastScheduleTime = &metav1.Time{Time: c.now.Add(-c.last)}
			got := agendaOf(a, facts{}, c.now)
			check(t, "due", text(got.due), c.due)
			check(t, "next", text(got.next), c.next)
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
		c := *newActivity(inState(state))
		c.Name, c.CreationTimestamp = name, metav1.NewTime(noon.Add(-age))
		return c
	}
	busy := []egov1.Activity{child("sysctl-1", egov1.StateRunning, time.Hour)}
	ending := []egov1.Activity{child("sysctl-1", egov1.StateRunning, time.Hour)}
	ending[0].Spec.Cancel = true
	due := child(occurrenceName(newActivity(), noon), egov1.StatePending, 0)
	many := []egov1.Activity{
		child("sysctl-1", egov1.StateSucceeded, 4*time.Hour), child("sysctl-2", egov1.StateFailed, 3*time.Hour),
		child("sysctl-3", egov1.StateSucceeded, 2*time.Hour),
	}
	policy := func(p egov1.ConcurrencyPolicy) option {
		return func(a *egov1.Activity) { a.Spec.ConcurrencyPolicy = p }
	}
	keep := func(n int32) option { return func(a *egov1.Activity) { a.Spec.SuccessfulRunsHistoryLimit = &n } }
	for name, c := range map[string]struct {
		object *egov1.Activity
		facts  facts
		want   does
	}{
		"a run is made":                 {newActivity(everyHour), facts{}, does{children: 1, again: time.Hour}},
		"none beside one at work":       {newActivity(everyHour), facts{children: busy}, does{again: time.Hour}},
		"unless that is allowed":        {newActivity(everyHour, policy(egov1.AllowConcurrent)), facts{children: busy}, does{children: 1, again: time.Hour}},
		"or the one at work gives way":  {newActivity(everyHour, policy(egov1.ReplaceConcurrent)), facts{children: busy}, does{patches: 1, again: waitsLong}},
		"whose end is waited for":       {newActivity(everyHour, policy(egov1.ReplaceConcurrent)), facts{children: ending}, does{again: waitsLong}},
		"and then it is made":           {newActivity(everyHour, policy(egov1.ReplaceConcurrent)), facts{children: many[1:2]}, does{children: 1, again: time.Hour}},
		"one that is made waits not":    {newActivity(everyHour, policy(egov1.ReplaceConcurrent)), facts{children: append(ending, due)}, does{children: 1, again: time.Hour}},
		"old runs go, the oldest first": {newActivity(everyHour, keep(1)), facts{children: many}, does{children: 1, step: "remove an old run", again: time.Hour}},
		"as many as are wanted stay":    {newActivity(everyHour, keep(2)), facts{children: many}, does{children: 1, again: time.Hour}},
		"suspended, it makes none":      {newActivity(everyHour, func(a *egov1.Activity) { a.Spec.Suspend = new(true) }), facts{}, does{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.object.Status.LastScheduleTime = &metav1.Time{Time: noon.Add(-time.Hour)}
			c.facts.agenda = agendaOf(c.object, c.facts, noon)
			check(t, "plan", summary((&reconciler{}).Plan(c.object, c.facts, noon)), c.want)
		})
	}
}

// A run that could not be made is not counted as made.
func TestWhatAScheduleTellsOfARunThatIsDue(t *testing.T) {
	due := agenda{due: noon, next: noon.Add(time.Hour)}
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
		"nobody vouches for it":      {agenda{due: noon, next: due.next, obstacle: &obstacle{reason: egov1.ReasonPolicyMissing}}, kit.Outcome{}, egov1.ReasonPolicyMissing, false},
		"it waits for another's end": {agenda{due: noon, next: due.next, waits: []string{"sysctl-1"}}, kit.Outcome{}, egov1.ReasonScheduled, false},
		"it waits for one for long":  {agenda{due: noon, next: due.next, waits: []string{"sysctl-1"}, late: true}, kit.Outcome{}, egov1.ReasonWaiting, false},
		"one is at work already":     {agenda{due: noon, next: due.next, skip: true}, kit.Outcome{}, egov1.ReasonScheduled, true},
	} {
		a := newActivity(everyHour)
		(&reconciler{}).Report(a, facts{agenda: c.agenda}, c.done, noon)
		ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
		if waits := len(c.agenda.waits) > 0; waits != strings.Contains(ready.Message, "waits until sysctl-1 has ended") {
			t.Errorf("%s: expected to be told what it waits for: %t, got %q", name, waits, ready.Message)
		}
		if ready.Reason != c.reason || (a.Status.LastScheduleTime != nil) != c.counts {
			t.Errorf("%s: expected reason %s, counted %t, got %+v and %v", name, c.reason, c.counts, ready, a.Status.LastScheduleTime)
		}
	}
}
