// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
)

func TestAnObjectThatIsGoneLeavesNothingBehind(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	widget, other := l.widget("w"), l.widget("other")
	l.goesWell(other, cost{statusWrite: 1})
	l.goesWell(widget, cost{statusWrite: 1})
	if got := conditionsOf(t, l, "w"); got != 1 {
		t.Errorf("%d metrics of conditions, expected 1", got)
	}
	if err := env.Client.Delete(t.Context(), widget); err != nil {
		t.Fatal(err)
	}
	l.settles(widget)
	if _, err := l.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(widget)}); err != nil {
		t.Errorf("error %v, expected none for an object that is gone", err)
	}
	if got := conditionsOf(t, l, "w"); got != 0 {
		t.Errorf("%d metrics of an object that is gone, expected 0", got)
	}
	if got := conditionsOf(t, l, "other"); got != 1 {
		t.Errorf("%d metrics of the other object, expected 1", got)
	}
	if !slices.Equal(l.forgot, []client.ObjectKey{client.ObjectKeyFromObject(widget)}) {
		t.Errorf("forgotten: %v, expected the object that is gone", l.forgot)
	}
	again := l.widget("w")
	if _, err := l.reconcilesAtOnce(again, cost{statusWrite: 1}); err != nil { // soon after the last status write
		t.Fatal(err)
	}
}

func TestAnObjectIsReleasedWhenAllIsDone(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = func(widget *Widget) kit.Plan {
		if widget.DeletionTimestamp != nil {
			return kit.Plan{Release: finalizer}
		}
		return kit.Plan{Finalizer: finalizer}
	}
	widget := l.widget("w")
	l.goesWell(widget, cost{"patch widgets": 1, statusWrite: 1})
	edit(t, "kubectl-edit", widget, `{"metadata":{"finalizers":["opcrew.io/widget","example.com/hold"]}}`)
	if err := env.Client.Delete(t.Context(), widget); err != nil {
		t.Fatal(err)
	}
	l.settles(widget)
	l.goesWell(widget, cost{"patch widgets": 1, statusWrite: 1})
	if got := current(t, widget).Finalizers; !slices.Equal(got, []string{"example.com/hold"}) {
		t.Errorf("finalizers %v, expected only the other's to be left", got)
	}
	if ready := expectReady(t, widget, "False", "Deleting"); !strings.Contains(ready.Message, "finalizers example.com/hold still block the deletion") {
		t.Errorf("message %q, expected it to name who holds the object", ready.Message)
	}
	l.goesWell(widget, free)
	edit(t, "kubectl-edit", widget, `{"metadata":{"finalizers":null}}`)
}
