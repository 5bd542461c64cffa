// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/opcrew/opcrew/api/common"
)

func TestHeldPodsStayPinnedToTheSettingsTheyWereCreatedWith(t *testing.T) {
	live := &appsv1.Deployment{}
	live.Annotations = map[string]string{common.PinnedAnnotation: "pinned.template"}
	deployment, set := appsv1ac.Deployment("web", "shop"), appsv1ac.StatefulSet("web", "shop")
	for _, declared := range []runtime.ApplyConfiguration{deployment, set} {
		child := Pinned(declared, "other settings")
		child.ReplaceOn = []string{"spec.volumeClaimTemplates"}
		child = Held(child, live)
		if child.Pin != nil || child.ReplaceOn != nil || !slices.Equal(child.Carry, []string{"spec.volumeClaimTemplates", "spec.template"}) {
			t.Errorf("expected the live template to be kept, and no reason to recreate it, got %+v", child)
		}
	}
	for _, annotations := range []map[string]string{deployment.Annotations, set.Annotations} {
		if annotations[common.PinnedAnnotation] != "pinned.template" {
			t.Errorf("expected them to stay pinned, got %v", annotations)
		}
	}
	unpinned := appsv1ac.Deployment("web", "shop")
	if Held(Pinned(unpinned, "settings"), &appsv1.Deployment{}); unpinned.ObjectMetaApplyConfiguration != nil && len(unpinned.Annotations) > 0 {
		t.Errorf("expected no pin where there is none, got %v", unpinned.Annotations)
	}
}
