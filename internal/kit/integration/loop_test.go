// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const finalizer = "opcrew.io/widget"

// withSettings returns a plan with a finalizer and one child.
func withSettings(widget *Widget) kit.Plan {
	return kit.Plan{
		Finalizer: finalizer,
		Children:  []ensure.Child{settings(widget.Namespace, map[string]string{"mode": "fast"})},
	}
}

func TestAnObjectWithAFinalizerAndOneChildIsReadyAfterThreeWritesInOrder(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = withSettings
	widget := l.widget("w")
	if ready := meta.FindStatusCondition(widget.Status.Conditions, "Ready"); ready == nil || ready.Status != metav1.ConditionUnknown {
		t.Errorf("a new object has Ready %v, expected Unknown by the default of its CRD", ready)
	}
	mark := env.Audit.Mark(t)
	l.goesWell(widget, cost{"get widgets": 1, "patch widgets": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
	var order []string
	for _, call := range env.Audit.Since(t, mark).By(l.user).Writes() {
		order = append(order, call.What())
	}
	if want := []string{"widgets", "configmaps", "widgets/status"}; !slices.Equal(order, want) {
		t.Errorf("written in the order %v, expected %v: the finalizer stands for what comes after it", order, want)
	}
	expectReady(t, widget, "True", "AsWanted")
	l.goesWell(widget, free)
	l.goesWell(widget, free)

	next := newLoop(t, widget.Namespace, setup{})
	next.kind.plan = withSettings
	next.goesWell(widget, free)
}

func TestAStatusIsWrittenWhenItChangesAndForTheNewGeneration(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	widget := l.widget("w")
	l.goesWell(widget, cost{statusWrite: 1})
	edit(t, "kubectl-edit", widget, `{"spec":{"size":2}}`)
	l.settles(widget)
	l.goesWell(widget, cost{statusWrite: 1})
	if ready := expectReady(t, widget, "True", "AsWanted"); ready.ObservedGeneration != 2 {
		t.Errorf("Ready was observed at generation %d, expected 2", ready.ObservedGeneration)
	}
	edit(t, "kubectl-edit", widget, `{"metadata":{"labels":{"team":"shop"}}}`)
	l.settles(widget)
	l.goesWell(widget, free)
}

func TestManyChangesWithinHalfASecondAreOneStatusWrite(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	widget := l.widget("w")
	l.goesWell(widget, cost{statusWrite: 1})
	for l.kind.seen = range 4 {
		l.clock.Step(100 * time.Millisecond)
		result, err := l.reconcilesAtOnce(widget, free)
		if want := 400*time.Millisecond - time.Duration(l.kind.seen)*100*time.Millisecond; l.kind.seen > 0 && (err != nil || result.RequeueAfter != want) {
			t.Errorf("looks again after %s (%v), expected %s", result.RequeueAfter, err, want)
		}
	}
	l.clock.Step(100 * time.Millisecond)
	if _, err := l.reconcilesAtOnce(widget, cost{statusWrite: 1}); err != nil {
		t.Fatal(err)
	}
	if got := current(t, widget).Status.Seen; got != 3 {
		t.Errorf("status shows %d, expected the last value 3", got)
	}
}

// Later steps depend on a record in the status, for example on the record that the first members of a cluster have
// responded.
func TestARecordInTheStatusIsWrittenAtOnceAndDelaysNothing(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.record = 10
	widget := l.widget("w")
	l.goesWell(widget, cost{statusWrite: 1})
	for _, seen := range []int{10, 11} {
		l.kind.seen = seen
		if _, err := l.reconcilesAtOnce(widget, cost{statusWrite: 1}); err != nil {
			t.Fatal(err)
		}
	}
	l.kind.seen = 12
	if result, err := l.reconcilesAtOnce(widget, free); err != nil || result.RequeueAfter == 0 {
		t.Errorf("expected what is no record to wait, got %v, %v", result, err)
	}
}

func TestAReadThatFailsMakesReadyUnknown(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = withSettings
	widget := l.widget("w")
	l.goesWell(widget, cost{"get widgets": 1, "patch widgets": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
	l.recorded("Normal AsWanted")

	l.kind.unread = errors.New("dial tcp 10.0.0.1:2379: i/o timeout")
	if _, err := l.reconciles(widget, cost{statusWrite: 1}); !errors.Is(err, l.kind.unread) {
		t.Errorf("error %v, expected the one of the read, so that it is tried again with backoff", err)
	}
	ready := expectReady(t, widget, "Unknown", "ReadFailed")
	if !strings.Contains(ready.Message, "i/o timeout") {
		t.Errorf("message %q, expected the words of the failure", ready.Message)
	}
	l.recorded("Normal ReadFailed")
	_, _ = l.reconciles(widget, free)
	l.recorded()

	l.kind.unread = nil
	l.goesWell(widget, cost{statusWrite: 1})
	expectReady(t, widget, "True", "AsWanted")
	l.recorded("Normal AsWanted")
}

func TestAPausedObjectIsReconciledAndNotChanged(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = withSettings
	widget := l.widget("w")
	l.goesWell(widget, cost{"get widgets": 1, "patch widgets": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
	stepped := 0
	l.kind.plan = func(widget *Widget) kit.Plan {
		plan := withSettings(widget)
		plan.Children = append(plan.Children, account(widget.Namespace))
		plan.Step = &kit.Step{Name: "step", Do: nil}
		plan.Step.Do = stepper(&stepped)
		plan.Events = []kit.Event{{Reason: "Planned", Action: "Plan", Note: "x"}}
		return plan
	}
	l.recorded("Normal AsWanted")
	edit(t, "kubectl-annotate", widget, `{"metadata":{"annotations":{"opcrew.io/paused":"true"}}}`)
	edit(t, "kubectl-edit", settingsOf(widget.Namespace), `{"data":{"mode":"slow"}}`)
	l.settles(widget)

	l.goesWell(widget, cost{"get serviceaccounts": 1, statusWrite: 1})
	ready := expectReady(t, widget, "False", "Paused")
	if !strings.Contains(ready.Message, "3 changes are held back") {
		t.Errorf("message %q, expected it to count 3 changes, its step among them", ready.Message)
	}
	if c := meta.FindStatusCondition(widget.Status.Conditions, "Paused"); c == nil || c.Status != "True" {
		t.Errorf("condition Paused is %v, expected True", c)
	}
	l.goesWell(widget, cost{"get serviceaccounts": 1})
	if stepped != 0 {
		t.Error("the step was taken, expected it to be held back")
	}
	l.recorded("Warning Paused")

	edit(t, "kubectl-annotate", widget, `{"metadata":{"annotations":{"opcrew.io/paused":null}}}`)
	l.settles(widget)
	l.goesWell(widget, cost{"get widgets": 1, "patch configmaps": 1, "get serviceaccounts": 1, "patch serviceaccounts": 1, statusWrite: 1})
	expectReady(t, widget, "True", "AsWanted")
	if meta.FindStatusCondition(widget.Status.Conditions, "Paused") != nil {
		t.Error("condition Paused is still there, expected it to go with the annotation")
	}
	if stepped != 1 {
		t.Errorf("%d steps, expected 1", stepped)
	}
}

func TestAPauseByTheSpecIsReportedBeforeAnythingIsHeldBack(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = withSettings
	widget := l.widget("w")
	l.goesWell(widget, cost{"get widgets": 1, "patch widgets": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
	pauses := func(changes map[string]string) func(*Widget) kit.Plan {
		return func(widget *Widget) kit.Plan {
			plan := withSettings(widget)
			plan.Children = []ensure.Child{settings(widget.Namespace, changes)}
			plan.PausedBy = "spec.paused"
			return plan
		}
	}
	as := map[string]string{"mode": "fast"}
	l.kind.plan = pauses(as)
	l.goesWell(widget, cost{statusWrite: 1})
	expectReady(t, widget, "True", "AsWanted")
	expectPaused(t, widget, "spec.paused: the object is paused, and 0 changes are held back")

	l.kind.plan = pauses(map[string]string{"mode": "slow"})
	l.clock.Step(time.Second)
	l.goesWell(widget, cost{statusWrite: 1})
	if ready := expectReady(t, widget, "False", "Paused"); ready.Message != "spec.paused: the object is paused, and 1 changes are held back" {
		t.Errorf("message %q, expected it to name the field and to count", ready.Message)
	}
	edit(t, "kubectl-annotate", widget, `{"metadata":{"annotations":{"opcrew.io/paused":"true"}}}`)
	l.settles(widget)
	l.clock.Step(time.Second)
	l.goesWell(widget, cost{statusWrite: 1})
	expectPaused(t, widget, "Annotation opcrew.io/paused and spec.paused: the object is paused, and 1 changes are held back")
}

func expectPaused(t *testing.T, widget *Widget, words string) {
	t.Helper()
	if c := meta.FindStatusCondition(current(t, widget).Status.Conditions, "Paused"); c == nil || c.Status != "True" || c.Message != words {
		t.Errorf("condition Paused is %v, expected True: %s", c, words)
	}
}

func TestAnObjectThatIsPausedFromTheStartCountsAllItsChanges(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = withSettings
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{
		Namespace: l.namespace(), Name: "w", Annotations: map[string]string{"opcrew.io/paused": "true"},
	}}
	create(t, widget)
	l.settles(widget)
	l.goesWell(widget, cost{"get configmaps": 1, statusWrite: 1})
	if ready := expectReady(t, widget, "False", "Paused"); !strings.Contains(ready.Message, "2 changes are held back") {
		t.Errorf("message %q, expected it to count the finalizer and the child", ready.Message)
	}
}

func TestADecisionIsMadeOncePerReconcile(t *testing.T) {
	l := newLoop(t, env.Namespace(t), setup{})
	l.kind.plan = withSettings
	widget := l.widget("w")
	l.goesWell(widget, cost{"get widgets": 1, "patch widgets": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
	l.goesWell(widget, free)
	if l.kind.decided != 2 {
		t.Errorf("expected one decision in each of two reconciles, got %d", l.kind.decided)
	}
}
