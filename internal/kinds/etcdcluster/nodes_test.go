// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestClustersLookAgainWhenANodeIsCordonedAndNotAtItsHeartbeats(t *testing.T) {
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}
	for name, test := range map[string]struct {
		edit  func(*corev1.Node)
		looks bool
	}{
		"a heartbeat": {func(n *corev1.Node) {
			n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(clustertest.Noon.Add(time.Minute))
		}, false},
		"it is cordoned": {func(n *corev1.Node) { n.Spec.Unschedulable = true }, true},
		"it is silent": {func(n *corev1.Node) {
			n.Status.Conditions[0].Status = corev1.ConditionUnknown
			n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(clustertest.Noon)
		}, true},
		"it changes labels": {func(n *corev1.Node) { n.Labels = map[string]string{"disk": "ssd"} }, false},
	} {
		old := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{ready}}}
		now := old.DeepCopy()
		test.edit(now)
		if got := nodeChanged.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: now}); got != test.looks {
			t.Errorf("%s: expected clusters to look again: %v, got %v", name, test.looks, got)
		}
	}
}
