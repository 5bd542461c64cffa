// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAPodThatWaitsForAVolumeSaysWhyItsClaimHasNone(t *testing.T) {
	const words = `storageclass.storage.k8s.io "missing" not found`
	unplaced := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "pod has " + unbound,
		}}}}
	}
	placed := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	bound := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-a"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "v"}}
	pending := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-b"}}
	for name, test := range map[string]struct {
		pods  []*corev1.Pod
		claim *corev1.PersistentVolumeClaim
		words string
		want  string
	}{
		"its class does not exist":        {[]*corev1.Pod{nil, placed, unplaced("b")}, pending, words, "claim data-b has no volume: " + words},
		"the cause is unknown":            {[]*corev1.Pod{unplaced("b")}, pending, "", ""},
		"it has a volume, and no machine": {[]*corev1.Pod{unplaced("a")}, bound, words, ""},
		"it has no claim":                 {[]*corev1.Pod{unplaced("b")}, nil, words, ""},
		"it has its place":                {[]*corev1.Pod{placed}, pending, words, ""},
	} {
		s := newSearcher()
		s.words = test.words
		u := NewUnbound(s.Live, s.clock)
		got := u.Why(t.Context(), client.ObjectKey{Name: "web"}, test.pods, func(*corev1.Pod) *corev1.PersistentVolumeClaim { return test.claim }, true)
		if got.Words != test.want || test.want != "" && got.Pod != "b" {
			t.Errorf("%s: expected %q of b, got %q of %s", name, test.want, got.Words, got.Pod)
		}
	}
}
