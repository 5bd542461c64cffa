// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestWhatTheClusterKnowsOfAHost(t *testing.T) {
	node := func(name string, conditions ...corev1.NodeCondition) *corev1.Node {
		n := &corev1.Node{}
		n.Name, n.Status.Conditions = name, conditions
		return n
	}
	since := metav1.NewTime(activitytest.Noon)
	r := &reconciler{Tools: &kit.Tools{Live: fake.NewClientBuilder().WithObjects(
		node("well", corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}),
		node("dead", corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: since, Message: "not heard of"}),
		node("new"),
	).Build()}}
	for name, want := range map[string]string{
		"well": "", "dead": "node dead has not been Ready since 2026-08-01T12:00:00Z: not heard of",
		"new": "node new is not Ready", "none": "node none no longer exists",
	} {
		state, err := r.readHost(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		activitytest.Check(t, "words on "+name, state.Problem(name), want)
	}
}
