// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestServersReadyReportsWhatBlocksIt(t *testing.T) {
	const kind = cachev1alpha1.MemcachedServersReady
	changed := outcome("StatefulSet", ensure.Applied, "")
	for name, test := range map[string]struct {
		size  int32
		facts facts
		done  kit.Outcome
		want  string
	}{
		"nothing is there yet":                              {3, facts{}, kit.Outcome{}, "False Applying: The servers are being created"},
		"all answer":                                        {3, observed(3), kit.Outcome{}, "True AllServersReady: 3 of 3 servers answer"},
		"size 0":                                            {0, observed(0), kit.Outcome{}, "True ScaledToZero: spec.size is 0, so there are no servers"},
		"size 0, a pod is still going":                      {0, observed(0, has("web-0")), kit.Outcome{}, "False Updating: The last servers are being removed"},
		"size 0, not carried out yet":                       {0, observed(0, counts(2)), kit.Outcome{}, "False Updating: The last servers are being removed"},
		"a pod hangs that shall go":                         {2, observed(2, hangs("web-2")), kit.Outcome{}, "True AllServersReady: 2 of 2 servers answer"},
		"a pod hangs that must stay":                        {3, observed(2, grown, hangs("web-2")), kit.Outcome{}, "False ServersNotReady: 2 of 3 servers answer; web-2: the pod is being deleted, and node node2 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service"},
		"size 0, the last pod hangs":                        {0, observed(0, hangs("web-0")), kit.Outcome{}, "True ScaledToZero: spec.size is 0, so there are no servers"},
		"it grows":                                          {5, observed(3), changed, "False Updating: The number of servers is changing from 3 to 5"},
		"it shrinks to 0":                                   {0, observed(3), kit.Outcome{}, "False Updating: The number of servers is changing from 3 to 0"},
		"one is being made":                                 {3, observed(3, lacks("web-1")), kit.Outcome{}, "False Updating: 2 of 3 servers answer; web-1: the pod is being created"},
		"a quota refuses two":                               {3, observed(3, lacks("web-1", "web-2"), isRefused("exceeded quota: q")), kit.Outcome{}, "False ServersMissing: 2 of 3 servers cannot be created: exceeded quota: q"},
		"a quota refuses, and one cannot start":             {3, observed(3, lacks("web-2"), cannotPull("web-0"), isRefused("exceeded quota: q")), kit.Outcome{}, "False ServersMissing: 1 of 3 servers cannot be created: exceeded quota: q"},
		"one starts":                                        {3, observed(3, starts("web-2")), kit.Outcome{}, "False Updating: 2 of 3 servers answer; web-2: the pod is starting"},
		"one may need a hand":                               {3, observed(3, starts("web-0"), cannotPull("web-2")), kit.Outcome{}, "False ServersNotReady: 1 of 3 servers answer; web-2: container memcached: ErrImagePull: not found"},
		"a quota refused two of an earlier spec":            {3, observed(3, lacks("web-1", "web-2"), isRefused("exceeded quota: q")), changed, "False Updating: The StatefulSet controller has not processed the last change yet"},
		"the StatefulSet has not looked at its last change": {3, observed(3, isUnseen), kit.Outcome{}, "False Updating: 3 of 3 servers are updated"},
		"a change goes on":                                  {3, observed(3, isUpdated(1)), kit.Outcome{}, "False Updating: 1 of 3 servers are updated"},
		// Regression test: Ready stayed True for a moment although the new spec had not been applied.
		"a change was written, and the facts are from before": {3, observed(3), changed, "False Updating: The StatefulSet controller has not processed the last change yet"},
		"a change was written, and the cache is behind":       {3, observed(3), outcome("StatefulSet", ensure.Waiting, ""), "False Updating: The StatefulSet controller has not processed the last change yet"},
		"drift was repaired":                                  {3, observed(3), outcome("StatefulSet", ensure.Repaired, ""), "True AllServersReady: 3 of 3 servers answer"},
		"another child changed":                               {3, observed(3), outcome("Service", ensure.Applied, ""), "True AllServersReady: 3 of 3 servers answer"},
	} {
		t.Run(name, func(t *testing.T) {
			m := reported(newMemcached(test.size), test.facts, test.done)
			same(t, kind, test.want, conditionOf(m, kind))
		})
	}
}

// grown increases the desired number of replicas in the StatefulSet by one.
func grown(f *facts) { f.Set.Spec.Replicas = new(*f.Set.Spec.Replicas + 1) }

func TestAPodThatHangsIsNotedBesideReady(t *testing.T) {
	m := reported(newMemcached(2), observed(2, hangs("web-2")), kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}}})
	same(t, "Ready", "True AllServersReady: 2 of 2 servers answer; stuck in deletion: pod web-2", conditionOf(m, "Ready"))
	same(t, "Leftovers", "True PodStuck: Pods are stuck in deletion, but nothing waits for them; web-2: the pod is being deleted, and node node2 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service", conditionOf(m, "Leftovers"))
	m = reported(m, observed(2), kit.Outcome{})
	same(t, "Leftovers", "none", conditionOf(m, "Leftovers"))
}

func TestPlacementReportsHowManyKeysANodeOrAZoneHas(t *testing.T) {
	on := func(nodes ...string) factOption {
		return func(f *facts) {
			for i, node := range nodes {
				f.places = append(f.places, workload.Place{Member: fmt.Sprint("web-", i), Node: node, Zone: "a"})
			}
		}
	}
	noZones := func(f *facts) {
		for i := range f.places {
			f.places[i].Zone = ""
		}
	}
	for name, test := range map[string]struct {
		facts facts
		want  string
	}{
		"no node yet":         {observed(2), "none"},
		"a node each":         {observed(3, on("n1", "n2", "n3"), noZones), "True Spread: At worst, losing n1 (web-0) loses 1 of 3 servers: 34% of the keys"},
		"two share a node":    {observed(3, on("n1", "n2", "n2"), noZones), "False SharedNode: Losing n2 (web-1, web-2) loses 2 of 3 servers: 67% of the keys"},
		"half share a node":   {observed(4, on("n1", "n2", "n2", "n3"), noZones), "True Spread: At worst, losing n2 (web-1, web-2) loses 2 of 4 servers: 50% of the keys"},
		"all in one zone":     {observed(2, on("n1", "n2")), "False SharedZone: Losing zone a (web-0, web-1) loses 2 of 2 servers: 100% of the keys"},
		"there is only one":   {observed(1, on("n1")), "True Spread: At worst, losing n1 (web-0) loses 1 of 1 servers: 100% of the keys"},
		"all share one of it": {observed(2, on("n1", "n1")), "False SharedNode: Losing n1 (web-0, web-1) loses 2 of 2 servers: 100% of the keys; losing zone a (web-0, web-1) loses 2 of 2 servers: 100% of the keys"},
	} {
		t.Run(name, func(t *testing.T) {
			m := reported(newMemcached(*test.facts.Set.Spec.Replicas), test.facts, kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}}})
			same(t, "Placement", test.want, conditionOf(m, "Placement"))
			if ready := conditionOf(m, "Ready"); !strings.HasPrefix(ready, "True ") {
				t.Errorf("expected Ready not to go by where servers run, got %s", ready)
			}
		})
	}
}

// Regression test: when a change is reverted during its rollout, the StatefulSet's revisions are equal again at once,
// although some pods still have the template with the change.
func TestAChangeTakenBackHalfWayIsStillUnderWay(t *testing.T) {
	f := observed(3, isUpdated(2))
	f.Set.Status.CurrentRevision, f.Set.Status.UpdateRevision = "web-1", "web-1"
	if !f.Rolling(someTime) {
		t.Error("expected the StatefulSet to be rolling while one of its pods is of another revision")
	}
}

func TestReadyIsTheFirstThatStandsInTheWay(t *testing.T) {
	taken := outcome("Service", ensure.Taken, "Service shop/web belongs to helm")
	resized := newMemcached(4)
	resized.Status.Replicas = 3
	for name, test := range map[string]struct {
		m     *cachev1alpha1.Memcached
		facts facts
		done  kit.Outcome
		want  string
	}{
		"nothing":                       {newMemcached(3), observed(3), kit.Outcome{}, "True AllServersReady: 3 of 3 servers answer"},
		"nothing, at size 0":            {newMemcached(0), observed(0), kit.Outcome{}, "True ScaledToZero: spec.size is 0, so there are no servers"},
		"nothing, after a resize":       {resized, observed(4), kit.Outcome{}, "True AllServersReady: 4 of 4 servers answer"},
		"another owner, before servers": {newMemcached(3), observed(3, cannotPull("web-0")), taken, "False NameTaken: Service shop/web belongs to helm"},
		"a failure":                     {newMemcached(3), observed(3), kit.Outcome{Err: errors.New("timeout")}, "Unknown Applying: timeout"},
		"a pause":                       {newMemcached(3), observed(3), kit.Outcome{Paused: true, Held: 1}, "False Paused: opcrew changes no child object while the object is paused by annotation opcrew.io/paused"},
		"servers":                       {newMemcached(3), observed(3, lacks("web-0")), kit.Outcome{}, "False Updating: 2 of 3 servers answer; web-0: the pod is being created"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "Ready", test.want, conditionOf(reported(test.m, test.facts, test.done), cachev1alpha1.MemcachedReady))
		})
	}
}

func TestTheFirstCauseIsThatOfTheFirstServerThatMayNeedAHand(t *testing.T) {
	for name, test := range map[string]struct {
		facts         facts
		cause, reason string
	}{
		"none":                            {observed(3), "", "Updating"},
		"the first on its way":            {observed(3, starts("web-2"), lacks("web-1")), "web-1: the pod is being created", "Updating"},
		"one that is stuck goes before":   {observed(3, lacks("web-0"), cannotPull("web-2")), "web-2: container memcached: ErrImagePull: not found", "ServersNotReady"},
		"the first of two that are stuck": {observed(3, cannotPull("web-1"), cannotPull("web-2")), "web-1: container memcached: ErrImagePull: not found", "ServersNotReady"},
		"by number and not by letter":     {observed(11, cannotPull("web-10"), cannotPull("web-2")), "web-2: container memcached: ErrImagePull: not found", "ServersNotReady"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemcached(0)
			m.Status.Nodes = podNames(m, *test.facts.Set.Spec.Replicas)
			cause, reason := firstCause(m, test.facts)
			same(t, "cause and reason", []string{test.cause, test.reason}, []string{cause, reason})
		})
	}
}

func TestTheShareOfKeysThatMovesIsThatOfTheServersThatCameOrWent(t *testing.T) {
	for _, c := range []struct{ from, to, want int32 }{
		{3, 4, 25}, {4, 3, 25}, {3, 5, 40}, {1, 2, 50}, {2, 3, 34}, {3, 2, 34}, {6, 7, 15}, {3, 0, 100}, {0, 3, 100}, {999, 1000, 1}, {1, 1000, 100},
	} {
		if got := moved(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d: expected %d%%, got %d%%", c.from, c.to, c.want, got)
		}
	}
}

func TestTheRingFollowsTheSpecOfTheStatefulSet(t *testing.T) {
	m := reported(newMemcached(3), observed(3, lacks("web-0"), starts("web-1")), kit.Outcome{})
	golden.Check(t, "status-restart.yaml", m.Status)
	golden.Check(t, "status-grows.yaml", reported(newMemcached(4), observed(3), kit.Outcome{}).Status)
	golden.Check(t, "status-new.yaml", reported(newMemcached(3), facts{}, kit.Outcome{}).Status)
	golden.Check(t, "status-zero.yaml", reported(newMemcached(0), observed(0), kit.Outcome{}).Status)
}

// Regression test: when a user deleted the StatefulSet, the status briefly listed no servers, so clients lost all keys.
func TestTheRingIsKeptWhileTheStatefulSetIsRecreated(t *testing.T) {
	m := reported(newMemcached(3), observed(3), kit.Outcome{})
	m = reported(m, facts{}, outcome("StatefulSet", ensure.Created, ""))
	if len(m.Status.Servers) != 3 || m.Status.Replicas != 3 || m.Status.ReadyReplicas != 0 || m.Status.LastResize != nil {
		t.Errorf("expected 3 servers, none of them ready and no change of size, got %+v", m.Status)
	}
}

func TestAChangeOfSizeIsReportedOnceItIsCarriedOut(t *testing.T) {
	m := newMemcached(3)
	for _, step := range []struct {
		set  int32
		want *cachev1alpha1.Resize
	}{
		{3, nil}, // no keys move when a new object gets its first servers
		{3, nil},
		{4, &cachev1alpha1.Resize{From: 3, To: 4, KeysMovedPercent: 25}},
		{4, &cachev1alpha1.Resize{From: 3, To: 4, KeysMovedPercent: 25}},
		{0, &cachev1alpha1.Resize{From: 4, To: 0, KeysMovedPercent: 100}},
		// Regression test: during the growth from 0 to 2 servers, Ready reported a change to 0.
		{2, &cachev1alpha1.Resize{From: 0, To: 2, KeysMovedPercent: 100}},
	} {
		m.Spec.Size = step.set
		reported(m, observed(step.set), kit.Outcome{})
		same(t, "lastResize", step.want, m.Status.LastResize)
	}
	fresh := reported(newMemcached(0), observed(0), kit.Outcome{})
	fresh.Spec.Size = 3
	same(t, "lastResize of an object that began with none", (*cachev1alpha1.Resize)(nil), reported(fresh, observed(3), kit.Outcome{}).Status.LastResize)
}

func TestTheScaleSubresourceSelectsThePods(t *testing.T) {
	m := reported(newMemcached(1), observed(1), kit.Outcome{})
	parsed, err := metav1.ParseToLabelSelector(m.Status.Selector)
	if err != nil || parsed.MatchLabels[instanceLabel] != "web" || !strings.Contains(m.Status.Selector, appName) {
		t.Errorf("expected a selector of the pods, got %q (%v)", m.Status.Selector, err)
	}
}

func TestAResizeIsAnEventWithTheShareOfKeysThatMove(t *testing.T) {
	before, after := newMemcached(4), newMemcached(4)
	after.Status.LastResize = &cachev1alpha1.Resize{From: 3, To: 4, KeysMovedPercent: 25}
	got := (&reconciler{}).transitions(before, after)
	if len(got) != 1 || got[0].Note != "Size changed from 3 to 4: with consistent hashing, clients look for 25% of the keys on other servers" {
		t.Errorf("expected one event of the resize, got %+v", got)
	}
	if again := (&reconciler{}).transitions(after, after.DeepCopy()); len(again) > 0 {
		t.Errorf("expected no event for a resize that was reported, got %+v", again)
	}
}
