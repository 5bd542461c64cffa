// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// onPool makes an Activity run on the nodes of a pool.
func onPool(a *egov1.Activity) {
	a.Spec.Host, a.Spec.Hosts = "", &egov1.Hosts{NodePool: "web"}
	a.Status.Fleet = &egov1.FleetStatus{Since: 1}
}

func recording(hosts ...string) activitytest.Option {
	return func(a *egov1.Activity) { a.Status.Fleet.Starting = hosts }
}

// childOn returns the Activity of one host in a run.
func childOn(number int64, host string, state egov1.State) *egov1.Activity {
	c := activitytest.New(activitytest.InState(state))
	c.Name, c.Spec.Host = fleet.ChildName("sysctl", number, host), host
	return c
}

// seeing returns the facts about a fleet with the given children, and hosts that have not started.
func seeing(a *egov1.Activity, waiting []string, children ...*egov1.Activity) facts {
	o := fleet.Observed{Children: children}
	for _, name := range waiting {
		node := &corev1.Node{}
		node.Name = name
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		o.Nodes = append(o.Nodes, node)
	}
	return facts{fleet: fleetFacts{children: children, hosts: fleet.HostsOf(a, o), fresh: true}}
}

func TestWhatFollowsForAFleet(t *testing.T) {
	stale := func(f facts) facts { f.fleet.fresh = false; return f }
	fresh := activitytest.New(onPool, recording("a", "b"))
	ended := activitytest.New(onPool, activitytest.InState(egov1.StateSucceeded))
	cancelled := activitytest.New(onPool, activitytest.Cancelled)
	forbidden := seeing(fresh, []string{"a"})
	forbidden.fleet.obstacle = &run.Obstacle{Reason: egov1.ReasonPolicyMissing}
	for name, c := range map[string]struct {
		object *egov1.Activity
		facts  facts
		want   does
	}{
		"a run is recorded first":           {activitytest.New(onPool, func(a *egov1.Activity) { a.Status.Run = 0 }), facts{}, does{}},
		"hosts are recorded next":           {activitytest.New(onPool), seeing(activitytest.New(onPool), []string{"a"}), does{}},
		"then their Activities are created": {fresh, seeing(fresh, []string{"a", "b", "c"}), does{children: 2}},
		"except those that exist":           {fresh, seeing(fresh, []string{"b", "c"}, childOn(1, "a", egov1.StateRunning)), does{children: 1}},
		"not by an outdated view":           {fresh, stale(seeing(fresh, []string{"a", "b"})), does{again: staleInterval}},
		"nor without the policy":            {fresh, forbidden, does{again: run.ObstacleInterval}},
		"a cancel cancels the active ones":  {cancelled, seeing(cancelled, []string{"c"}, childOn(1, "a", egov1.StateRunning), childOn(1, "b", egov1.StateSucceeded)), does{patches: 1}},
		"an ended one rests":                {ended, seeing(ended, []string{"b"}, childOn(1, "a", egov1.StateSucceeded)), does{}},
		// Regression: another kind had written the node, the watch ignored it, and the node stayed cordoned.
		"but looks again at a node of a stale cache": {ended, facts{fleet: fleetFacts{unseen: map[string]bool{"a": true}}}, does{again: staleInterval}},
		"Activities of runs that do not count go":    {activitytest.New(onPool, secondRunOfAll), facts{fleet: fleetFacts{children: []*egov1.Activity{childOn(1, "a", egov1.StateSucceeded)}}}, does{step: "delete the Activity of an earlier run"}},
		"a deletion needs nothing but its finalizer": {activitytest.New(onPool, activitytest.Leaving), facts{}, does{releases: true}},
	} {
		t.Run(name, func(t *testing.T) {
			activitytest.Check(t, "plan", summary(planAt(c.object, c.facts, activitytest.Noon)), c.want)
		})
	}
}

// secondRunOfAll makes a fleet whose second run on all hosts has succeeded.
func secondRunOfAll(a *egov1.Activity) {
	a.Spec.Run, a.Status.Run, a.Status.Prosta, a.Status.Fleet.Since = new(int64(2)), 2, egov1.StateSucceeded, 2
}

// The fleet records the deletion first, so that the host does not run the command again.
func TestADeletedActivityOfAHostWaitsForItsFleet(t *testing.T) {
	a := activitytest.New(activitytest.Leaving)
	activitytest.Check(t, "plan", summary(planAt(a, facts{unrecorded: true}, activitytest.Noon)), does{again: hostInterval})
}

func TestTheActivityOfAHostHasTheCommandAndRequesterOfItsFleet(t *testing.T) {
	a := activitytest.New(onPool, activitytest.Cancelled, func(a *egov1.Activity) {
		a.Spec.ExecUser, a.Spec.Run, a.Spec.TTLSecondsAfterFinished = "www-data", new(int64(2)), new(int64(9))
	})
	data, err := json.Marshal(single(a, "node1"))
	if err != nil {
		t.Fatal(err)
	}
	got := &egov1.Activity{}
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	spec := got.Spec
	if spec.Host != "node1" || spec.Hosts != nil || spec.Run != nil || spec.Cancel || spec.TTLSecondsAfterFinished != nil || spec.Requester.Username != "ada" || spec.ExecUser != "www-data" {
		t.Errorf("expected a single run on node1 in the name of ada, got %+v", spec)
	}
	if got.Name != "sysctl-2-node1" || !slices.Contains(got.Finalizers, run.Finalizer) || got.Labels[fleet.Label] != "sysctl" {
		t.Errorf("expected a name, a finalizer and a label, got %+v", got.ObjectMeta)
	}
}

func TestWhatAFleetReports(t *testing.T) {
	approval := func(a *egov1.Activity) { a.Spec.Hosts.Approval = &egov1.Approval{Required: true} }
	for name, c := range map[string]struct {
		object *egov1.Activity
		hosts  []string
		child  *egov1.Activity
		done   kit.Outcome
		want   string
	}{
		"a new run":                 {activitytest.New(onPool, func(a *egov1.Activity) { a.Status.Run = 0 }), nil, nil, kit.Outcome{}, "Pending Ready=False/Applying Succeeded=Unknown/Pending starting []"},
		"the first host":            {activitytest.New(onPool), []string{"a", "b"}, nil, kit.Outcome{}, "Pending Ready=False/Waiting Succeeded=Unknown/Waiting starting [a]"},
		"a run that goes on":        {activitytest.New(onPool), []string{"b"}, childOn(1, "a", egov1.StateRunning), kit.Outcome{}, "Running Ready=False/Running Succeeded=Unknown/Running starting []"},
		"a refused creation":        {activitytest.New(onPool, recording("a")), []string{"a"}, nil, kit.Outcome{Err: fmt.Errorf("quota")}, "Pending Ready=False/Refused Succeeded=Unknown/Waiting starting [a]"},
		"a missing approval":        {activitytest.New(onPool, approval), []string{"a"}, nil, kit.Outcome{}, "Pending Ready=False/AwaitingApproval Succeeded=Unknown/AwaitingApproval starting []"},
		"a failure":                 {activitytest.New(onPool), []string{"b"}, childOn(1, "a", egov1.StateFailed), kit.Outcome{}, "Failed Ready=False/StoppedOnFailure Succeeded=False/StoppedOnFailure starting []"},
		"a success":                 {activitytest.New(onPool), nil, childOn(1, "a", egov1.StateSucceeded), kit.Outcome{}, "Succeeded Ready=True/Succeeded Succeeded=True/Succeeded starting []"},
		"a status that was emptied": {activitytest.New(onPool, func(a *egov1.Activity) { a.Status.Fleet = nil }), []string{"a"}, nil, kit.Outcome{}, "Pending Ready=False/Waiting Succeeded=Unknown/Waiting starting [a]"},
		"no requester":              {activitytest.New(onPool, func(a *egov1.Activity) { a.Spec.Requester = nil }), []string{"a"}, nil, kit.Outcome{}, "Refused Ready=False/NoRequester Succeeded=False/NoRequester starting []"},
		"a result that is final":    {activitytest.New(onPool, activitytest.InState(egov1.StateFailed)), []string{"b"}, childOn(1, "a", egov1.StateSucceeded), kit.Outcome{}, "Failed starting []"},
	} {
		t.Run(name, func(t *testing.T) {
			var children []*egov1.Activity
			if c.child != nil {
				children = append(children, c.child)
			}
			reportAt(c.object, seeing(c.object, c.hosts, children...), c.done, activitytest.Noon)
			activitytest.Check(t, "status", statusText(c.object), c.want)
		})
	}
}

func statusText(a *egov1.Activity) string {
	text := string(a.Status.Prosta)
	for _, kind := range []string{egov1.ActivityReady, egov1.ActivitySucceeded} {
		if c := meta.FindStatusCondition(a.Status.Conditions, kind); c != nil {
			text += fmt.Sprintf(" %s=%s/%s", kind, c.Status, c.Reason)
		}
	}
	return text + fmt.Sprintf(" starting %v", a.Status.Fleet.Starting)
}

// The record of the hosts that start next must not wait, because they start only after it is written.
func TestHostsThatStartAreRecordedAtOnce(t *testing.T) {
	none, one, two := activitytest.New(onPool), activitytest.New(onPool, recording("a")), activitytest.New(onPool, recording("b"))
	single := activitytest.New()
	for _, c := range []struct {
		before, after *egov1.Activity
		want          bool
	}{{none, one, true}, {one, one, false}, {one, two, true}, {one, none, false}, {single, single, false}} {
		activitytest.Check(t, "record", starts(c.before, c.after), c.want)
	}
}

func TestHeartbeatsOfNodesDoNotMatterToFleets(t *testing.T) {
	node := func(ready corev1.ConditionStatus, cordoned bool, beat time.Duration, label string) *corev1.Node {
		n := &corev1.Node{}
		n.Labels, n.Spec.Unschedulable = map[string]string{"zone": label}, cordoned
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastHeartbeatTime: metav1.NewTime(activitytest.Noon.Add(beat))}}
		return n
	}
	before := node(corev1.ConditionTrue, false, 0, "a")
	for name, c := range map[string]struct {
		after *corev1.Node
		want  bool
	}{
		"a heartbeat": {node(corev1.ConditionTrue, false, time.Minute, "a"), false},
		"a cordon":    {node(corev1.ConditionTrue, true, 0, "a"), true},
		"an outage":   {node(corev1.ConditionUnknown, false, 0, "a"), true},
		"a label":     {node(corev1.ConditionTrue, false, 0, "b"), true},
	} {
		activitytest.Check(t, name+" matters", hostChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: c.after}), c.want)
	}
}

func TestTheSelectionIsNamedInMessages(t *testing.T) {
	for _, h := range []*egov1.Hosts{{NodePool: "web"}, {NodeSelector: map[string]egov1.NodeLabel{"zone": "a"}}} {
		if text := selectionText(h); !strings.HasPrefix(text, "hosts.node") {
			t.Errorf("expected the field of the spec, got %q", text)
		}
	}
}
