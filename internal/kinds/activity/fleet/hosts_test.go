// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

func fleetOf(options ...activitytest.Option) *egov1.Activity {
	a := activitytest.New()
	a.Name, a.Spec.Host = "upgrade", ""
	a.Spec.Hosts = &egov1.Hosts{NodePool: "web"}
	a.Status.Fleet = &egov1.FleetStatus{Since: 1}
	for _, o := range options {
		o(a)
	}
	return a
}

func inRun(n int64) activitytest.Option {
	return func(a *egov1.Activity) { a.Spec.Run, a.Status.Run = &n, n }
}

func node(name string, ready, cordoned bool) *corev1.Node {
	n := &corev1.Node{}
	n.Name, n.Spec.Unschedulable = name, cordoned
	status := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionUnknown}[ready]
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	return n
}

func text(hosts []Host) string {
	var out []string
	for i := range hosts {
		h := &hosts[i]
		words := h.Name + ":" + string(h.State()) + h.Problem
		if h.Earlier {
			words += "earlier"
		}
		if h.Starting {
			words += "starting"
		}
		out = append(out, words)
	}
	return strings.Join(out, " ")
}

func TestMachinesOutsideTheClusterAreAvailableUntilTheirRunIsActive(t *testing.T) {
	running := child("upgrade", 1, "db1", egov1.StateRunning)
	got := text(HostsOf(fleetOf(ofMachines), Observed{Children: []*egov1.Activity{running}}))
	if want := "db1:Running db2:"; got != want {
		t.Errorf("expected the hosts %q, got %q", want, got)
	}
	if ssh := SSHOf(fleetOf(ofMachines), "db1"); ssh == nil || *ssh != (egov1.SSH{Address: "db1:2222", Secret: "logins"}) {
		t.Errorf("expected the address and the Secret of db1, got %+v", ssh)
	}
	if ssh := SSHOf(fleetOf(), "db1"); ssh != nil {
		t.Errorf("expected a node to have no address, got %+v", ssh)
	}
}

func TestTheHostsOfAFleet(t *testing.T) {
	second := child("upgrade", 2, "a", egov1.StateRunning)
	alien := child("other", 1, "a", egov1.StateSucceeded)
	removed := func(a *egov1.Activity) {
		a.Status.Fleet.Removed = []egov1.RemovedRun{{Host: "b", Run: 2, State: egov1.StateCancelled}, {Host: "c", Run: 1, State: egov1.StateSucceeded}, {Host: "d", Run: 1, State: egov1.StateFailed}}
	}
	named := func(a *egov1.Activity) { a.Spec.Hosts = &egov1.Hosts{Names: []egov1.HostName{"a", "z"}} }
	for name, c := range map[string]struct {
		fleet *egov1.Activity
		seen  Observed
		want  string
	}{
		"nodes":                                {fleetOf(), Observed{Nodes: []*corev1.Node{node("b", true, true), node("c", false, false), node("a", true, false)}}, "a: b:is cordoned c:is not Ready"},
		"a name without a node":                {fleetOf(named), Observed{Nodes: []*corev1.Node{node("a", true, false)}}, "a: z:"},
		"a host that left the selection stays": {fleetOf(), Observed{Children: []*egov1.Activity{child("upgrade", 1, "a", egov1.StateRunning)}}, "a:Running"},
		"an earlier success counts":            {fleetOf(inRun(2)), Observed{Children: []*egov1.Activity{child("upgrade", 1, "a", egov1.StateSucceeded), child("upgrade", 1, "b", egov1.StateFailed)}, Nodes: []*corev1.Node{node("b", true, false)}}, "a:earlier b:"},
		"but not before a run of all":          {fleetOf(inRun(2), func(a *egov1.Activity) { a.Status.Fleet.Since = 2 }), Observed{Children: []*egov1.Activity{child("upgrade", 1, "a", egov1.StateSucceeded)}}, ""},
		"the current run decides":              {fleetOf(inRun(2)), Observed{Children: []*egov1.Activity{child("upgrade", 1, "a", egov1.StateSucceeded), second}}, "a:Running"},
		"Activities of others do not count":    {fleetOf(), Observed{Children: []*egov1.Activity{alien}}, ""},
		"deleted ones do":                      {fleetOf(inRun(2), removed), Observed{Nodes: []*corev1.Node{node("d", true, false)}}, "b:Cancelled c:earlier d:"},
		"recorded ones start":                  {fleetOf(func(a *egov1.Activity) { a.Status.Fleet.Starting = []string{"a"} }), Observed{}, "a:starting"},
	} {
		t.Run(name, func(t *testing.T) { activitytest.Check(t, "hosts", text(HostsOf(c.fleet, c.seen)), c.want) })
	}
}

func TestNamesOfActivitiesCanBeReadBack(t *testing.T) {
	long := strings.Repeat("rack-", 49) + "node"
	for _, host := range []string{"node1", "node-2.rack-1.example.com", "3", long, long + "2"} {
		for _, fleet := range []string{"upgrade", "up-2", "up-2-3"} {
			c := child(fleet, 7, host, egov1.StateRunning)
			if number, ok := RunOf(fleet, c); number != 7 || !ok || len(c.Name) > 253 {
				t.Errorf("expected run 7 of %s on %s, got %d %t from %s", fleet, host, number, ok, c.Name)
			}
		}
	}
	if ChildName("upgrade", 1, long) == ChildName("upgrade", 1, long+"2") {
		t.Error("expected different names for different hosts")
	}
}

func TestAnActivityThatIsGoneWithoutATraceIsLost(t *testing.T) {
	a := fleetOf(func(a *egov1.Activity) { a.Status.Fleet.Started = 2 })
	activitytest.Check(t, "lost", Lost(a, row("Running", "")), 1)
	activitytest.Check(t, "lost", Lost(a, row("Running", "Failed", "")), 0)
	Count(a.Status.Fleet, row("Running", ""))
	activitytest.Check(t, "lost when reported", Lost(a, row("Running", "")), 1)
	activitytest.Check(t, "lost at the beginning of a run", Lost(fleetOf(func(a *egov1.Activity) { a.Status.Fleet.Started, a.Spec.Run = 2, new(int64(2)) }), nil), 0)
}

func TestADeletionIsRecordedOnce(t *testing.T) {
	c := child("upgrade", 1, "a", egov1.StateRunning)
	c.DeletionTimestamp = &metav1.Time{Time: activitytest.Noon}
	a := fleetOf()
	if Remembers(a, c) {
		t.Error("expected the deletion to be recorded first")
	}
	Remember(a, []*egov1.Activity{c, child("upgrade", 1, "b", egov1.StateRunning)})
	Remember(a, []*egov1.Activity{c})
	activitytest.Check(t, "removed", fmt.Sprint(a.Status.Fleet.Removed), "[{a 1 Cancelled }]")
	activitytest.Check(t, "remembered", Remembers(a, c), true)
	activitytest.Check(t, "an Activity of others", Remembers(a, child("other", 1, "a", egov1.StateRunning)), true)
}

func TestANewRunKeepsTheSuccessesThatCount(t *testing.T) {
	ended := func(a *egov1.Activity) {
		a.Status.Fleet.Removed = []egov1.RemovedRun{{Host: "a", Run: 1, State: egov1.StateSucceeded}, {Host: "b", Run: 1, State: egov1.StateFailed}}
		a.Spec.Run = new(int64(2))
	}
	again := Open(fleetOf(ended))
	activitytest.Check(t, "after a run of the failed ones", fmt.Sprint(again.Since, again.Removed), "1 [{a 1 Succeeded }]")
	all := Open(fleetOf(ended, func(a *egov1.Activity) { a.Spec.Hosts.Rerun = egov1.RerunAll }))
	activitytest.Check(t, "after a run of all", fmt.Sprint(all.Since, all.Removed), "2 []")
}

// A user who deletes the Activity of a host and then removes its finalizer does not stop the fleet: the deletion was seen.
func TestAnActivityThatGoesAfterItsDeletionWasSeenIsNotLost(t *testing.T) {
	a := activitytest.New(func(a *egov1.Activity) {
		a.Spec.Hosts = &egov1.Hosts{Names: []egov1.HostName{"a", "b"}}
		a.Status.Run, a.Status.Fleet = 1, &egov1.FleetStatus{Since: 1, Started: 1}
	})
	running := child(a.Name, 1, "a", egov1.StateRunning)
	activitytest.Check(t, "Activities that are lost before the deletion was seen", Lost(a, HostsOf(a, Observed{})), 1)
	running.DeletionTimestamp = &running.CreationTimestamp
	Remember(a, []*egov1.Activity{running})
	hosts := HostsOf(a, Observed{})
	activitytest.Check(t, "Activities that are lost", Lost(a, hosts), 0)
	activitytest.Check(t, "state of the host", hosts[0].State(), egov1.StateCancelled)
}
