// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

// drains makes all hosts those of a fleet that drains them. A host that the status records as starting is drained.
func drains(in *Input) {
	for i := range in.Hosts {
		in.Hosts[i].Drains = true
	}
	in.Limits.Drain = &egov1.Drain{}
}

// blocked makes a pod block the drain of a host.
func blockedOn(host string) func(*Input) {
	return func(in *Input) {
		in.Drains = append(in.Drains, Drain{Host: host, Node: &corev1.Node{}, Plan: blockedPlan()})
	}
}

// edit changes the host with an index.
func edit(i int, change func(*Host)) func(*Input) {
	return func(in *Input) { change(&in.Hosts[i]) }
}

func ours(h *Host)           { h.Ours = true }
func heldByOthers(h *Host)   { h.Held, h.Problem = true, "is being changed by MachineConfig" }
func runsOperator(h *Host)   { h.Last = true }
func drainFailed(h *Host)    { h.Removed, h.Message = egov1.StateTimedOut, "it was not drained" }
func isUnapproved(in *Input) { in.Unapproved = "ask" }

func TestADrainCountsAsActive(t *testing.T) {
	closed := func(in *Input) { in.Limits.Window = &egov1.Window{Schedule: "0 22 * * *", DurationSeconds: 3600} }
	for name, c := range map[string]struct {
		in   *Input
		want string
	}{
		"one host is drained":                        {input(row("starting", ""), drains), "Running Running create"},
		"what blocks it is shown":                    {input(row("starting", ""), drains, blockedOn("a")), "Running DrainBlocked create 2s"},
		"others start within the budget":             {input(row("starting", "", ""), drains, most(2)), "Running Running +b create"},
		"or run their command":                       {input(row("starting", "Running", ""), drains, most(2)), "Running Running create"},
		"a canary is drained alone":                  {input(row("starting", "", ""), drains, most(3), canary(1, 0)), "Running Running create"},
		"a failed drain is a failure":                {input(row("", ""), drains, edit(0, drainFailed)), "Failed StoppedOnFailure drop"},
		"which can be tolerated":                     {input(row("", ""), drains, failures(1), edit(0, drainFailed)), "Running Running +b"},
		"a failure stops a drain":                    {input(row("Failed", "starting"), drains), "Failed StoppedOnFailure drop"},
		"a cancel stops it":                          {input(row("starting", ""), drains, func(in *Input) { in.Cancelled = true }), "Cancelled Cancelled drop cancel"},
		"it waits for an approval":                   {input(row("starting", ""), drains, isUnapproved), "Running AwaitingApproval"},
		"and for the window":                         {input(row("starting", ""), drains, closed), "Running OutsideWindow 10h0m0s"},
		"the node of the operator comes last":        {input(row("", "", ""), drains, most(2), edit(0, runsOperator)), "Pending Waiting +b +c"},
		"a node that stayed cordoned comes first":    {input(row("", "", ""), drains, edit(1, ours)), "Pending Waiting +b"},
		"it counts while others run":                 {input(row("Running", "", ""), drains, edit(1, ours)), "Running Running"},
		"a failed host that is cordoned counts":      {input(row("Failed", ""), drains, failures(1), edit(0, ours)), "Running BudgetUsed"},
		"others work on a node":                      {input(row("Succeeded", ""), drains, edit(1, heldByOthers)), "Running Held"},
		"it comes last":                              {input(row("", ""), drains, most(2), edit(0, heldByOthers)), "Pending Waiting +b"},
		"a host that others may break comes earlier": {input(row("", "cordoned"), drains, most(2), edit(0, heldByOthers)), "Pending Waiting +b"},
	} {
		t.Run(name, func(t *testing.T) {
			activitytest.Check(t, "verdict", describe(Decide(c.in)), c.want)
		})
	}
}

func TestMessagesOfDrainsNameTheNextStep(t *testing.T) {
	ending := func(in *Input) {
		in.Drains = []Drain{{Host: "a", Node: &corev1.Node{}, Plan: &drain.Plan{Ending: []drain.Pod{{Namespace: "shop", Name: "web"}}}}, {Host: "b", Held: "is cordoned"}}
	}
	for name, c := range map[string]struct {
		in    *Input
		words []string
	}{
		"blocked":   {input(row("starting"), drains, blockedOn("a")), []string{"node a cannot be drained yet: pod shop/db-0: PodDisruptionBudget db allows no disruption"}},
		"ending":    {input(row("starting", "starting"), drains, most(2), ending), []string{"node a is drained before the command runs there", "node b is cordoned: it is drained when"}},
		"held":      {input(row(""), drains, edit(0, heldByOthers)), []string{"a is being changed by MachineConfig", "the run continues when"}},
		"failed":    {input(row("Failed", ""), drains, edit(0, ours)), []string{"opcrew keeps these nodes cordoned: a; repair them, then raise spec.run, or kubectl uncordon them"}},
		"all ended": {input(row("Failed", "Succeeded"), drains, failures(1), edit(0, ours), edit(1, ours)), []string{"keeps these nodes cordoned: a;"}},
	} {
		message := Decide(c.in).Message
		for _, words := range c.words {
			if !strings.Contains(message, words) {
				t.Errorf("%s: expected %q in %q", name, words, message)
			}
		}
	}
}

// A run that drops the drain of a host must not count its Activity as gone later.
func TestAHostThatIsDrainedHasNoActivityYet(t *testing.T) {
	a := fleetOf(draining)
	hosts := input(row("starting", "Running"), drains).Hosts
	Count(a.Status.Fleet, hosts)
	if s := a.Status.Fleet; s.Pending != 1 || s.Running != 1 || s.Started != 1 {
		t.Errorf("expected a pending host, and one Activity, got %+v", s)
	}
}
