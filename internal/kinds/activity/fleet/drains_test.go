// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

func draining(a *egov1.Activity) { a.Spec.Hosts.Drain = &egov1.Drain{} }

// cordonedIn records that run of the fleet cordoned a node before noon.
func cordonedIn(run int64, ago time.Duration, n *corev1.Node) *corev1.Node {
	record := claims.Cordon{Namespace: "chores", Name: "upgrade", UID: "uid-of-sysctl", Run: run, At: activitytest.Noon.Add(-ago)}
	n.Annotations = map[string]string{claims.FleetCordon: record.String()}
	n.Spec.Unschedulable = true
	return n
}

func byMachineConfig(n *corev1.Node) *corev1.Node {
	n.Annotations = map[string]string{"machineconfiguration.openshift.io/desiredConfig": "rendered-web-1"}
	return n
}

func ofAnother(n *corev1.Node) *corev1.Node {
	n = cordonedIn(1, 0, n)
	n.Annotations[claims.FleetCordon] = strings.Replace(n.Annotations[claims.FleetCordon], "uid-of-sysctl", "another", 1)
	return n
}

func blockedPlan() *drain.Plan {
	return &drain.Plan{Blocked: []drain.Blocked{{Pod: drain.Pod{Namespace: "shop", Name: "db-0"}, Message: "PodDisruptionBudget db allows no disruption"}}}
}

func TestWhatFollowsForANodeThatIsDrained(t *testing.T) {
	ready := func() *corev1.Node { return node("a", true, false) }
	uncordoned := cordonedIn(1, 0, ready())
	uncordoned.Spec.Unschedulable = false
	for name, c := range map[string]struct {
		drain Drain
		want  Step
	}{
		"it is cordoned first":                           {Drain{Node: ready()}, CordonNode},
		"then its pods are evicted":                      {Drain{Node: cordonedIn(2, 0, ready())}, Evict},
		"until none are left":                            {Drain{Node: cordonedIn(2, 0, ready()), Plan: blockedPlan()}, Evict},
		"then the command runs":                          {Drain{Node: cordonedIn(2, 0, ready()), Plan: &drain.Plan{}}, Begin},
		"a later run takes over the cordon":              {Drain{Node: cordonedIn(1, 0, ready())}, CordonNode},
		"it is cordoned again":                           {Drain{Node: uncordoned}, CordonNode},
		"a user's cordon is not touched":                 {Drain{Node: node("a", true, true)}, Wait},
		"nor that of another fleet":                      {Drain{Node: ofAnother(ready())}, Wait},
		"a change by MachineConfig comes first":          {Drain{Node: byMachineConfig(ready())}, Wait},
		"a write that is not seen yet is waited for":     {Drain{Node: ready(), Unseen: true}, Wait},
		"the only node of a cluster is not drained":      {Drain{Node: ready(), Alone: true}, Begin},
		"the Activity of a node that is gone reports it": {Drain{}, Begin},
	} {
		if got := DrainStep(fleetOf(draining, inRun(2)), c.drain); got != c.want {
			t.Errorf("%s: expected %s, got %s", name, c.want, got)
		}
	}
}

func TestADrainFailsAfterItsTimeout(t *testing.T) {
	a := fleetOf(draining, func(a *egov1.Activity) { a.Spec.Hosts.Drain.TimeoutSeconds = new(int64(60)) })
	at := func(ago time.Duration) Drain {
		return Drain{Host: "a", Node: cordonedIn(1, ago, node("a", true, false)), Plan: blockedPlan()}
	}
	if why := Overdue(a, at(59*time.Second), activitytest.Noon); why != nil {
		t.Errorf("expected the drain to continue, got %+v", why)
	}
	why := Overdue(a, at(time.Minute), activitytest.Noon)
	if why == nil || !strings.Contains(why.Message, "not drained within 1m0s, so the command did not run: pod shop/db-0: PodDisruptionBudget db") {
		t.Fatalf("expected the pod that blocked to be named, got %+v", why)
	}
	if late := at(time.Hour); Overdue(fleetOf(draining), late, activitytest.Noon) == nil || Overdue(fleetOf(draining), at(29*time.Minute), activitytest.Noon) != nil {
		t.Error("expected a drain to fail after half an hour by default")
	}
	h := Host{Name: "a", Starting: true, Drains: true}
	h.Fail(why)
	RecordDrains(a, []Host{h})
	RecordDrains(a, []Host{h})
	if r := a.Status.Fleet.Removed; len(r) != 1 || r[0].State != egov1.StateTimedOut || r[0].Message == "" || h.Draining() {
		t.Errorf("expected one record of the failed drain, got %+v", r)
	}
	groups, _ := Groups([]Host{h})
	activitytest.Check(t, "message of the result", groups[0].Message, why.Message)
	h.Fail(&run.Obstacle{Reason: egov1.ReasonForbidden, Message: "no right"})
	activitytest.Check(t, "state without the right", h.State(), egov1.StateRefused)
}

func TestTheNodeOfAFleetIsNotForeign(t *testing.T) {
	a := fleetOf(draining, inRun(2))
	hosts := HostsOf(a, Observed{Operator: "c", Nodes: []*corev1.Node{
		cordonedIn(1, 0, node("a", true, false)), node("b", true, true), node("c", true, false), byMachineConfig(node("d", true, false)), ofAnother(node("e", true, false)),
	}})
	var out []string
	for _, h := range hosts {
		words := h.Name + ":" + h.Problem
		for word, is := range map[string]bool{" ours": h.Ours, " held": h.Held, " last": h.Last} {
			if is {
				words += word
			}
		}
		out = append(out, words)
	}
	want := "a: ours, b:is cordoned held, c: last, d:is being changed by MachineConfig held, e:is cordoned by Activity chores/upgrade held"
	if got := strings.Join(out, ", "); got != want {
		t.Errorf("expected %s, got %s", want, got)
	}
	plain := HostsOf(fleetOf(), Observed{Nodes: []*corev1.Node{node("b", true, true), byMachineConfig(node("d", true, false))}})
	if plain[0].Held || !plain[1].Held {
		t.Errorf("expected a fleet without a drain to wait only for MachineConfig, got %+v", plain)
	}
}
