// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestAHostIsAskedOnlyWhereItMayExplainSomething(t *testing.T) {
	for name, c := range map[string]struct {
		object *egov1.Activity
		facts  facts
		after  time.Duration
		want   bool
	}{
		"there is no pod":              {newActivity(), facts{}, time.Hour, false},
		"it is about to begin":         {newActivity(), facts{pod: newPod(bornAt(0))}, time.Second, false},
		"it does not begin":            {newActivity(), facts{pod: newPod(bornAt(0))}, hostPatience, true},
		"it has no node":               {newActivity(), facts{pod: newPod(bornAt(0), unschedulable("cordoned"))}, 0, true},
		"it runs":                      {newActivity(), facts{pod: newPod(bornAt(0), running)}, time.Hour, false},
		"it runs and is not heard of":  {newActivity(), facts{pod: newPod(bornAt(0), running, unheard)}, time.Hour, true},
		"it has ended":                 {newActivity(), facts{pod: newPod(bornAt(0), endedWith(exit3))}, time.Hour, false},
		"it has ended without a word":  {newActivity(), facts{pod: newPod(madeIn("first"), endedWith(""))}, 0, true},
		"it was given up, and is over": {newActivity(inState(egov1.StateUnreachable)), facts{pod: newPod(bornAt(0))}, time.Hour, false},
	} {
		check(t, name+": the host explains it", explains(c.object, c.facts, noon.Add(c.after)), c.want)
	}
}

func TestWhatTheClusterKnowsOfAHost(t *testing.T) {
	node := func(name string, conditions ...corev1.NodeCondition) *corev1.Node {
		n := &corev1.Node{}
		n.Name, n.Status.Conditions = name, conditions
		return n
	}
	since := metav1.NewTime(noon)
	r := &reconciler{Tools: &kit.Tools{Live: fake.NewClientBuilder().WithObjects(
		node("well", corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}),
		node("dead", corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: since, Message: "not heard of"}),
		node("new"),
	).Build()}}
	for name, want := range map[string]string{
		"well": "", "dead": "node dead is not Ready since 2026-08-01T12:00:00Z: not heard of",
		"new": "node new is not Ready", "none": "there is no node none any more",
	} {
		state, err := r.readHost(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "words on "+name, state.down(name), want)
	}
}
