// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
)

var gadgetGVK = schema.GroupVersionKind{Group: "test.opcrew.io", Version: "v1", Kind: "Gadget"}

// wrote records a write that the cache does not show yet.
func (w *workshop) wrote() {
	w.Children.Record(gadgetGVK, &gadget{ObjectMeta: metav1.ObjectMeta{Namespace: gadgetKey.Namespace, Name: gadgetKey.Name, ResourceVersion: "5000"}})
}

// looksAgain runs one reconcile, and expects another one after the given time.
func (w *workshop) looksAgain(want time.Duration) {
	w.t.Helper()
	result, err := w.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: gadgetKey})
	if err != nil || result.RequeueAfter != want {
		w.t.Errorf("expected the next reconcile after %s, got %s and %v", want, result.RequeueAfter, err)
	}
}

// Regression: a second controller wrote the node, and the predicates of the first ignored the event of that write. So
// the first looked again only after 5 seconds.
func TestALoopLooksAgainSoonWhenTheCacheIsStaleEvenWithoutAnEvent(t *testing.T) {
	w := newWorkshop(t)
	w.wrote()
	w.looksAgain(200 * time.Millisecond)
	w.looksAgain(400 * time.Millisecond)
	if w.kind.decisions != 0 {
		t.Errorf("expected no decision about a stale object, got %d", w.kind.decisions)
	}
	w.Children.Forget(gadgetGVK, gadgetKey)
	w.looksAgain(0)
	w.wrote()
	w.looksAgain(200 * time.Millisecond)
}
