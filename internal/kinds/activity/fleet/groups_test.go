// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strings"
	"testing"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

// said returns a host whose command ended with an exit code and an output.
func said(name string, code int32, output string) Host {
	state := egov1.StateSucceeded
	if code != 0 {
		state = egov1.StateFailed
	}
	c := child("upgrade", 1, name, state)
	c.Status.ExitCode, c.Status.Output = &code, output
	return Host{Name: name, Child: c}
}

func summary(groups []egov1.OutcomeGroup) string {
	var out []string
	for _, g := range groups {
		out = append(out, fmt.Sprintf("%d %s %q %v", g.Count, g.State, g.Output, g.Hosts))
	}
	return strings.Join(out, "; ")
}

func TestEqualResultsAreOneGroup(t *testing.T) {
	groups, others := Groups([]Host{said("a", 0, "ok"), said("b", 28, "disk full"), said("c", 0, "ok"), {Name: "d", Removed: egov1.StateCancelled},
		said("e", 1, "disk full"), {Name: "f"}, {Name: "g", Child: child("upgrade", 1, "g", egov1.StateRunning)}})
	activitytest.Check(t, "groups", summary(groups), `2 Succeeded "ok" [a c]; 1 Failed "disk full" [b]; 1 Cancelled "" [d]; 1 Failed "disk full" [e]`)
	activitytest.Check(t, "other hosts", others, 0)
	activitytest.Check(t, "message", groups[2].Message, "the Activity was deleted")
}

// 30 hosts print different texts, such as their names. The user must still see the one that failed.
func TestFailuresAreShownEvenIfEverySuccessDiffers(t *testing.T) {
	var hosts []Host
	for i := range 30 {
		hosts = append(hosts, said(fmt.Sprintf("n%02d", i), 0, fmt.Sprint(i)))
	}
	hosts = append(hosts, said("z", 1, "broken"))
	groups, others := Groups(hosts)
	if len(groups) != mostGroups || !strings.Contains(summary(groups), `1 Failed "broken" [z]`) {
		t.Errorf("expected %d groups with the failure, got %s", mostGroups, summary(groups))
	}
	activitytest.Check(t, "other hosts", others, 31-mostGroups)
}

func TestAGroupIsShort(t *testing.T) {
	var hosts []Host
	for i := range 30 {
		hosts = append(hosts, said(fmt.Sprintf("n%02d", i), 1, strings.Repeat("é", 1000)+"end"))
	}
	groups, _ := Groups(hosts)
	if g := groups[0]; len(g.Hosts) != mostExamples || len(g.Output) > longestOutput || !strings.HasSuffix(g.Output, "end") || g.Count != 30 {
		t.Errorf("expected a short group, got %+v", g)
	}
}

func TestTheNumbersOfTheStatus(t *testing.T) {
	s := &egov1.FleetStatus{Failed: 9}
	Count(s, row("", "Pending", "Running", "Succeeded", "Failed", "Refused", "earlier", "cordoned"))
	got := fmt.Sprint(s.Hosts, s.NotStarted, s.Pending, s.Running, s.Succeeded, s.Failed, s.Started)
	activitytest.Check(t, "hosts, not started, pending, running, succeeded, failed, started", got, "8 2 1 1 2 2 5")
}
