// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func TestOnlyAnnotationsOfOpcrewAndOfMachineConfigWakePools(t *testing.T) {
	for name, want := range map[string]bool{
		machineorder.State: true, machineorder.ReportAnnotation: true, "projectcalico.org/IPv4Address": false, "example.com/opcrew.io": false,
	} {
		update := event.UpdateEvent{ObjectOld: newNode("a", target, nil), ObjectNew: newNode("a", target, annotations{name: "changed"})}
		if got := nodeChanged().Update(update); got != want {
			t.Errorf("%s: expected an event that counts to be %t, got %t", name, want, got)
		}
	}
}

func TestAPauseByAnnotationWakesTheNodesOfAPool(t *testing.T) {
	paused := newPool()
	paused.Annotations = annotations{common.PausedAnnotation: "true"}
	if !decisive(newPool(), paused) || !decisive(paused, newPool()) {
		t.Error("expected a pause and its end to wake the nodes")
	}
}

func TestTaintsOfOthersAreIgnored(t *testing.T) {
	before := newNode("a", target, nil)
	for taint, want := range map[corev1.Taint]bool{
		nodepatch.Updating: true, nodepatch.Startup: true, {Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}: false,
	} {
		after := before.DeepCopy()
		after.Spec.Taints = []corev1.Taint{taint}
		if got := nodeChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != want {
			t.Errorf("%s: expected the event to pass: %t, got %t", taint.Key, want, got)
		}
	}
}
