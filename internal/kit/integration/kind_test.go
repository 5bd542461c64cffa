// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

var widgetKind = schema.GroupVersionKind{Group: "test.opcrew.io", Version: "v1", Kind: "Widget"}

// widgets implements kit.Kind for Widget objects. Tests set the fields that they need.
type widgets struct {
	unread  error                  // error that Observe returns
	seen    int                    // facts that Observe returns
	plan    func(*Widget) kit.Plan // nil means an empty plan
	decided int                    // number of calls of Decide
	record  int                    // value of seen at which method records returns true; 0 means never
	done    kit.Outcome            // last outcome passed to Report
}

func (k *widgets) Observe(context.Context, *Widget) (int, error) { return k.seen, k.unread }

// Decide counts its calls, and returns the facts unchanged as the decision.
func (k *widgets) Decide(_ *Widget, seen int, _ time.Time) int {
	k.decided++
	return seen
}

func (k *widgets) Plan(widget *Widget, _, _ int) kit.Plan {
	if k.plan == nil {
		return kit.Plan{}
	}
	return k.plan(widget)
}

func (k *widgets) Report(widget *Widget, _, seen int, done kit.Outcome) {
	k.done = done
	widget.Status.Seen = seen
	set := condition.Set{Conditions: &widget.Status.Conditions, Generation: widget.Generation, Now: done.Now}
	switch {
	case done.Err != nil:
		set.False("Ready", "Refused", done.Err.Error())
	case done.Contested != "":
		set.False("Ready", "Contested", done.Contested)
	default:
		set.True("Ready", "AsWanted", "All is as declared")
	}
}

// records reports whether the status contains a new record, which the loop must write at once. In these tests, this is
// the case when seen reaches the number in field record.
func (k *widgets) records(before, now *Widget) bool {
	return k.record > 0 && before.Status.Seen < k.record && now.Status.Seen >= k.record
}

// tell returns an event for every change of seen.
func (k *widgets) tell(before, after *Widget) []kit.Event {
	if before.Status.Seen == after.Status.Seen {
		return nil
	}
	return []kit.Event{{Reason: "Seen", Action: "Look", Note: "something else is seen"}}
}

// loop is an operator process that reconciles widgets.
type loop struct {
	*process
	*kit.Loop[*Widget, int, int]
	kind     *widgets
	recorder *events.FakeRecorder
	registry *prometheus.Registry
	forgot   []client.ObjectKey
}

func newLoop(t *testing.T, namespace string, s setup) *loop {
	t.Helper()
	l := &loop{process: start(t, namespace, s), kind: &widgets{}, recorder: events.NewFakeRecorder(100), registry: prometheus.NewRegistry()}
	l.Loop = &kit.Loop[*Widget, int, int]{
		Tools: &kit.Tools{
			Client: l.client, Live: l.live, Children: l.Applier, Events: l.recorder,
			Registry: l.registry, Clock: l.clock,
		},
		New:         func() *Widget { return &Widget{} },
		Kind:        l.kind,
		Transitions: l.kind.tell,
		Records:     l.kind.records,
		Forget:      []func(client.ObjectKey){func(key client.ObjectKey) { l.forgot = append(l.forgot, key) }},
	}
	if err := l.Register(); err != nil {
		t.Fatal(err)
	}
	return l
}

// reconciles runs one reconcile and expects these API calls. Before that, it moves the fake clock by the minimum time
// between two status writes. Afterwards, it waits until the cache shows the result.
func (l *loop) reconciles(widget *Widget, costs cost) (ctrl.Result, error) {
	l.t.Helper()
	l.clock.Step(500 * time.Millisecond)
	return l.reconcilesAtOnce(widget, costs)
}

func (l *loop) reconcilesAtOnce(widget *Widget, costs cost) (result ctrl.Result, err error) {
	l.t.Helper()
	key := client.ObjectKeyFromObject(widget)
	l.spends(costs, func() { result, err = l.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: key}) })
	l.settles(widget)
	return result, err
}

// settles waits until the cache shows the current version of the widget and its children.
func (l *loop) settles(widget *Widget) {
	l.t.Helper()
	l.catchesUp(ensure.Ref{GroupVersionKind: widgetKind, ObjectKey: client.ObjectKeyFromObject(widget)})
	for _, result := range l.kind.done.Results {
		if result.Ref.Kind != "" {
			l.catchesUp(result.Ref)
		}
	}
}

// goesWell expects that a reconcile returns no error and plans no next reconcile.
func (l *loop) goesWell(widget *Widget, costs cost) {
	l.t.Helper()
	result, err := l.reconciles(widget, costs)
	if err != nil || result.RequeueAfter != 0 {
		l.t.Fatalf("the reconcile gives %v (%v), expected it to wait for the next event", result, err)
	}
}

func (l *loop) widget(name string) *Widget {
	l.t.Helper()
	widget := newWidget(l.t, l.namespace(), name)
	l.settles(widget)
	return widget
}

func (l *loop) namespace() string { return strings.SplitN(l.user, "@", 2)[1] }

func newWidget(t *testing.T, namespace, name string) *Widget {
	t.Helper()
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: WidgetSpec{Size: 1}}
	create(t, widget)
	return widget
}

// expectReady reads condition Ready from the API server, checks it, and returns it.
func expectReady(t *testing.T, widget *Widget, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	got := current(t, widget)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
	if ready == nil || ready.Status != status || ready.Reason != reason {
		t.Fatalf("Ready is %v, expected %s with reason %s", ready, status, reason)
	}
	if got.Status.ObservedGeneration != got.Generation {
		t.Errorf("observed generation %d, expected %d", got.Status.ObservedGeneration, got.Generation)
	}
	return *ready
}

// recorded expects exactly these events since its last call. Each want is the prefix of one event.
func (l *loop) recorded(want ...string) {
	l.t.Helper()
	var got []string
	for len(l.recorder.Events) > 0 {
		got = append(got, <-l.recorder.Events)
	}
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || !strings.HasPrefix(got[i], want[i]) {
			l.t.Errorf("events %q, expected %q", got, want)
			return
		}
	}
}

const statusWrite = "patch widgets/status"
