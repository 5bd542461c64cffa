// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Regression: an object was recreated while its watch was broken. It had the same generation as the deleted object, so
// the event was dropped. The fault tests found this.
func TestAnObjectThatWasRecreatedUnseenIsAnUpdateThatMatters(t *testing.T) {
	object := func(uid types.UID, generation int64) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", UID: uid, Generation: generation}}
	}
	spec := Updates(func(e event.UpdateEvent) bool { return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() })
	for name, test := range map[string]struct {
		change event.UpdateEvent
		want   bool
	}{
		"its status":                {event.UpdateEvent{ObjectOld: object("a", 1), ObjectNew: object("a", 1)}, false},
		"its spec":                  {event.UpdateEvent{ObjectOld: object("a", 1), ObjectNew: object("a", 2)}, true},
		"another one of its name":   {event.UpdateEvent{ObjectOld: object("a", 1), ObjectNew: object("b", 1)}, true},
		"another one, changed once": {event.UpdateEvent{ObjectOld: object("a", 2), ObjectNew: object("b", 1)}, true},
	} {
		if got := spec.Update(test.change); got != test.want {
			t.Errorf("%s: expected it to pass: %v, got %v", name, test.want, got)
		}
	}
}
