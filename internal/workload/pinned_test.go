// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/opcrew/opcrew/api/common"
)

func TestPodsThatAreHeldStayPinnedToTheWishesThatTheyWereMadeFor(t *testing.T) {
	live := &appsv1.Deployment{}
	live.Annotations = map[string]string{common.PinnedAnnotation: "wishes.template"}
	declared := appsv1ac.Deployment("web", "shop")
	child := Held(declared, live)
	if child.Pin != nil || len(child.Carry) != 1 || child.Carry[0] != "spec.template" {
		t.Errorf("expected the live template to be kept, got %+v", child)
	}
	if declared.Annotations[common.PinnedAnnotation] != "wishes.template" {
		t.Errorf("expected them to stay pinned, got %v", declared.Annotations)
	}
	unpinned := appsv1ac.Deployment("web", "shop")
	Held(unpinned, nil)
	if len(unpinned.Annotations) > 0 {
		t.Errorf("expected no pin where there is none, got %v", unpinned.Annotations)
	}
}
