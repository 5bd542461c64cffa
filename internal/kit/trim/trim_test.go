// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package trim

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestACachedPodKeepsOnlyShortAnnotationsThatKindsRead(t *testing.T) {
	long := strings.Repeat("x", longAnnotation)
	for name, test := range map[string]struct{ annotations, want map[string]string }{
		"those of opcrew stay":         {map[string]string{"opcrew.io/boot": "a", "etcd.opcrew.io/start": "b", "etcd.version": "3.6.0"}, map[string]string{"opcrew.io/boot": "a", "etcd.opcrew.io/start": "b", "etcd.version": "3.6.0"}},
		"those of others go":           {map[string]string{"team": "a", "notopcrew.io/boot": "b", "opcrew.io/boot": "c"}, map[string]string{"opcrew.io/boot": "c"}},
		"a long one goes":              {map[string]string{"opcrew.io/order": long + "x", "opcrew.io/boot": "a"}, map[string]string{"opcrew.io/boot": "a"}},
		"none stays if they are many":  {map[string]string{"opcrew.io/a": long, "opcrew.io/b": long, "opcrew.io/c": long, "opcrew.io/d": long, "opcrew.io/e": "x"}, nil},
		"a pod without any stays bare": {nil, nil},
	} {
		pod := &corev1.Pod{}
		pod.Annotations = test.annotations
		if _, err := Object(pod); err != nil || !maps.Equal(pod.Annotations, test.want) {
			t.Errorf("%s: expected %d annotations, got %d (%v)", name, len(test.want), len(pod.Annotations), err)
		}
	}
}

func TestACachedNodeIsWithoutWhatNoKindReads(t *testing.T) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"disk": "ssd"},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kubelet"}, {Manager: "opcrew"}, {Manager: "opcrew", Subresource: "status"},
			},
		},
		Spec: corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{
			Images:          []corev1.ContainerImage{{SizeBytes: 1}},
			VolumesAttached: []corev1.AttachedVolume{{Name: "v"}}, VolumesInUse: []corev1.UniqueVolumeName{"v"},
			RuntimeHandlers: []corev1.NodeRuntimeHandler{{Name: "runc"}},
		},
	}
	if _, err := Object(node); err != nil {
		t.Fatal(err)
	}
	if node.Status.Images != nil || node.Status.VolumesAttached != nil || node.Status.VolumesInUse != nil {
		t.Errorf("status %v, expected it without images and volumes", node.Status)
	}
	if len(node.ManagedFields) != 1 || node.ManagedFields[0].Manager != "opcrew" || node.ManagedFields[0].Subresource != "" {
		t.Errorf("managed fields %v, expected those that opcrew wrote on the node itself", node.ManagedFields)
	}
	if node.Labels["disk"] != "ssd" || !node.Spec.Unschedulable || len(node.Status.RuntimeHandlers) != 1 {
		t.Errorf("node %v, expected the rest of it to stay", node)
	}
	if other, err := Object("a tombstone"); err != nil || other != any("a tombstone") {
		t.Errorf("what is no node: %v (%v), expected it to pass", other, err)
	}
}
