// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// gadget is a test object with a status.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            gadgetStatus `json:"status"`
}

type gadgetStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

func (g *gadget) StatusConditions() *[]metav1.Condition { return &g.Status.Conditions }
func (g *gadget) StatusObservedGeneration() *int64      { return &g.Status.ObservedGeneration }

func (g *gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(g.Status.Conditions)
	return &out
}

// gadgets implements Kind for gadget objects. Its zero value observes no problem and plans nothing.
type gadgets struct {
	decisions int
	plan      Plan
	broken    bool
}

func (k *gadgets) Observe(context.Context, *gadget) (bool, error) { return k.broken, nil }

func (k *gadgets) Decide(_ *gadget, broken bool, _ time.Time) string {
	k.decisions++
	if broken {
		return "Broken"
	}
	return "Works"
}

func (k *gadgets) Plan(*gadget, bool, string) Plan { return k.plan }

func (k *gadgets) Report(g *gadget, broken bool, reason string, done Outcome) {
	set := condition.Set{Conditions: &g.Status.Conditions, Generation: g.Generation, Now: done.Now}
	if broken {
		set.False("Ready", reason, "it is broken")
		return
	}
	set.True("Ready", reason, "it works")
}

// workshop is an operator process that reconciles one gadget.
type workshop struct {
	*Loop[*gadget, bool, string]
	t     *testing.T
	kind  *gadgets
	clock *clocktesting.FakeClock
}

var gadgetKey = client.ObjectKey{Namespace: "shop", Name: "lamp"}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "test.opcrew.io", Version: "v1", Kind: "Gadget"}, &gadget{})
	lamp := &gadget{ObjectMeta: metav1.ObjectMeta{Namespace: gadgetKey.Namespace, Name: gadgetKey.Name, UID: "uid"}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(lamp).WithStatusSubresource(lamp).Build()
	w := &workshop{t: t, kind: &gadgets{}, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))}
	w.Loop = &Loop[*gadget, bool, string]{
		Tools: &Tools{
			Client: api, Live: api, Children: &ensure.Applier{Client: api, Live: api, Clock: w.clock},
			Events: events.NewFakeRecorder(100), Registry: prometheus.NewRegistry(), Clock: w.clock,
		},
		New:  func() *gadget { return &gadget{} },
		Kind: w.kind,
	}
	if err := w.Register(); err != nil {
		t.Fatal(err)
	}
	return w
}

// reconciles runs one reconcile at a log verbosity, and returns the logged lines.
func (w *workshop) reconciles(verbosity int) []string {
	w.t.Helper()
	w.clock.Step(time.Minute)
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: verbosity})
	ctx := log.IntoContext(w.t.Context(), logger)
	if _, err := w.Reconcile(ctx, ctrl.Request{NamespacedName: gadgetKey}); err != nil {
		w.t.Fatal(err)
	}
	return lines
}

// logs runs one reconcile, and expects one log line for each of the given texts.
func (w *workshop) logs(verbosity int, want ...string) {
	w.t.Helper()
	lines := w.reconciles(verbosity)
	if len(lines) != len(want) {
		w.t.Errorf("expected %d lines in the log, got %d: %s", len(want), len(lines), strings.Join(lines, "\n"))
		return
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			w.t.Errorf("expected %q in the log, got %s", want[i], line)
		}
	}
}

func TestEachReconcileDecidesOnce(t *testing.T) {
	w := newWorkshop(t)
	for reconciles := 1; reconciles <= 3; reconciles++ {
		w.reconciles(0)
		if w.kind.decisions != reconciles {
			t.Errorf("expected %d decisions after as many reconciles, got %d", reconciles, w.kind.decisions)
		}
	}
}

func TestATransitionIsOneLineInTheLogAndRestIsNone(t *testing.T) {
	w := newWorkshop(t)
	w.logs(0, `"msg"="Condition changed" "condition"="Ready" "status"="True" "reason"="Works" "message"="it works" "was"=""`)
	w.logs(0)
	w.kind.broken = true
	w.logs(0, `"condition"="Ready" "status"="False" "reason"="Broken" "message"="it is broken" "was"="True Works"`)
	w.logs(0)
}

func TestTheVerboseLogSaysWhyNothingIsDone(t *testing.T) {
	w := newWorkshop(t)
	w.reconciles(0)
	w.logs(1, `"msg"="The reconcile changed nothing" "why"="everything is as declared"`)
	w.kind.plan = Plan{Waits: "a quorum of healthy voters", Again: 5 * time.Second}
	w.logs(1, `"why"="the next step has to wait: a quorum of healthy voters" "heldBack"=0 "lookAgain"="5s"`)
	w.logs(0)
}

func TestAStepIsOneLineInTheLogHoweverOftenItHasToWait(t *testing.T) {
	w := newWorkshop(t)
	w.reconciles(0)
	answer := fmt.Errorf("the learner is not in sync: %w", ErrNotNow)
	w.kind.plan = Plan{Step: &Step{Name: "promote db-3", Why: "to replace db-1", Do: func(context.Context) error { return answer }}}
	w.logs(0, `"msg"="Step was not taken" "step"="promote db-3" "why"="to replace db-1" "reason"="the learner is not in sync: the step cannot be taken yet"`)
	w.logs(0)
	w.logs(0)
	answer = nil
	w.logs(0, `"msg"="Took step" "step"="promote db-3" "why"="to replace db-1"`)
}

func TestWhatIsRememberedOfAnObjectIsClearedWithIt(t *testing.T) {
	w := newWorkshop(t)
	var memory Memory[client.ObjectKey, string]
	w.Forget = []func(client.ObjectKey){memory.Forget}
	w.reconciles(0)
	memory.Set(gadgetKey, "the last refusal")
	w.retries.wait(gadgetKey)
	w.refusals.Set(gadgetKey, refusal{patches: "x"})
	w.stepsLogged.Set(gadgetKey, "x")
	w.reconciles(0)
	if memory.Get(gadgetKey) == "" {
		t.Error("expected a memory to last as long as the object")
	}
	if err := w.Client.Delete(t.Context(), &gadget{ObjectMeta: metav1.ObjectMeta{Namespace: gadgetKey.Namespace, Name: gadgetKey.Name}}); err != nil {
		t.Fatal(err)
	}
	w.reconciles(0)
	if memory.Get(gadgetKey) != "" || len(w.retries.count.values)+len(w.refusals.values)+len(w.stepsLogged.values)+len(w.status.objects.values) > 0 {
		t.Error("expected nothing to be remembered of an object that is gone")
	}
}

// denies is a guard that refuses every pod.
type denies struct{}

func (denies) Object(context.Context, client.Object, guard.Pod) (*guard.Objection, error) {
	return &guard.Objection{Reason: "Forbidden", Message: "leave it out"}, nil
}

func TestReadyShowsWhatAGuardObjectsToForEveryKind(t *testing.T) {
	w := newWorkshop(t)
	w.Children.Guards = []guard.Guard{denies{}}
	w.Client.Scheme().AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Pod{})
	w.kind.plan = Plan{Children: []ensure.Child{{Object: corev1ac.Pod("lamp", "shop").WithSpec(corev1ac.PodSpec())}}}
	w.reconciles(0)
	lamp := &gadget{}
	if err := w.Client.Get(t.Context(), gadgetKey, lamp); err != nil {
		t.Fatal(err)
	}
	ready := meta.FindStatusCondition(lamp.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != "Forbidden" || ready.Message != "leave it out" {
		t.Errorf("expected Ready False with the words of the guard, got %+v", ready)
	}
	if err := w.Client.Get(t.Context(), gadgetKey, &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("expected no pod, got %v", err)
	}
}
