// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestANodeIsCordonedBySpecUnschedulable(t *testing.T) {
	if n := NodeOf(&corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}}); !n.Cordoned {
		t.Errorf("expected a node with spec.unschedulable to be cordoned, got %+v", n)
	}
	tainted := []corev1.Taint{{Key: "example.com/pool", Effect: corev1.TaintEffectNoSchedule}}
	if n := NodeOf(&corev1.Node{Spec: corev1.NodeSpec{Taints: tainted}}); n.Cordoned {
		t.Errorf("expected a node that is reserved for other pods not to be cordoned, got %+v", n)
	}
}
