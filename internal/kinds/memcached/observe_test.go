// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// watcher is a reconciler that counts how often it lists events.
type watcher struct {
	*reconciler
	clock *clocktesting.FakeClock
	asked int
}

func newWatcher(objects ...client.Object) *watcher {
	w := &watcher{clock: clocktesting.NewFakeClock(someTime)}
	live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			w.asked++
			list.(*corev1.EventList).Items = []corev1.Event{{Message: "exceeded quota"}}
			return nil
		},
	}).Build()
	w.reconciler = &reconciler{
		Tools:    &kit.Tools{Client: fake.NewClientBuilder().WithObjects(objects...).Build()},
		refusals: workload.Refusals{Live: live, Clock: w.clock},
	}
	return w
}

func (w *watcher) observe(t *testing.T, m *cachev1alpha1.Memcached) facts {
	t.Helper()
	f, err := w.Observe(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (w *watcher) expectAsked(t *testing.T, times int, when string) {
	t.Helper()
	if w.asked != times {
		t.Errorf("%s: expected the events to have been asked %d times, got %d", when, times, w.asked)
	}
}

// Regression test: while a pod was being recreated, the status reported why the API server had refused a pod an hour
// ago.
func TestTheEventsAreAskedOnlyWhenPodsAreMissingForAWhile(t *testing.T) {
	m, pod := newMemcached(2), newPod("web-1")
	w := newWatcher(newSet(2), newPod("web-0"), pod)
	w.clock.Step(time.Hour)
	w.observe(t, m)
	w.expectAsked(t, 0, "with all pods there")

	if err := w.Client.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if f := w.observe(t, m); !f.Missing() || f.Refusal.Words != "" {
		t.Errorf("expected a pod that is missing for no known reason, got %+v", f)
	}
	w.clock.Step(workload.RefusalWait - time.Millisecond)
	w.observe(t, m)
	w.expectAsked(t, 0, "while the pod may be on its way")
	w.clock.Step(time.Millisecond)
	if f := w.observe(t, m); f.Refusal.Words != "exceeded quota" {
		t.Errorf("expected the words of the refusal, got %q", f.Refusal.Words)
	}
	w.expectAsked(t, 1, "after the wait")

	if err := w.Client.Create(t.Context(), newPod("web-1")); err != nil {
		t.Fatal(err)
	}
	if f := w.observe(t, m); f.Missing() || f.Refusal.Words != "" {
		t.Errorf("expected nothing to be missing, got %+v", f)
	}
	if err := w.Client.Delete(t.Context(), newPod("web-1")); err != nil {
		t.Fatal(err)
	}
	w.observe(t, m)
	w.expectAsked(t, 1, "when a pod is missing again")
}

// A restarted operator must still report why the API server refuses to create the pods, so it reads the events at once.
func TestAKnownRefusalIsAskedForAtOnceByAProcessThatJustBegan(t *testing.T) {
	m := newMemcached(1)
	m.Status.Conditions = []metav1.Condition{{Type: cachev1alpha1.MemcachedServersReady, Reason: cachev1alpha1.ReasonServersMissing}}
	if f := newWatcher(newSet(1)).observe(t, m); f.Refusal.Words != "exceeded quota" {
		t.Errorf("expected the words of the refusal, got %q", f.Refusal.Words)
	}
}

// Regression test: pods of a deleted StatefulSet with the same name counted as servers.
func TestOnlyPodsOfTheStatefulSetCount(t *testing.T) {
	predecessors, somebodys, elsewhere, unlabelled := newPod("web-1"), newPod("web-2"), newPod("web-3"), newPod("web-4")
	predecessors.OwnerReferences[0].UID = "another"
	somebodys.OwnerReferences = nil
	elsewhere.Namespace = "other"
	unlabelled.Labels = nil
	f := newWatcher(newSet(3), newPod("web-0"), predecessors, somebodys, elsewhere, unlabelled).observe(t, newMemcached(3))
	if len(f.Pods) != 1 || f.Pods["web-0"] == nil || !f.Missing() {
		t.Errorf("expected web-0 only, got %v", f.Pods)
	}
}

func TestWithoutAStatefulSetNothingIsKnownOfPods(t *testing.T) {
	f := newWatcher(newPod("web-0")).observe(t, newMemcached(3))
	if f.Set != nil || len(f.Pods) > 0 || f.Missing() {
		t.Errorf("expected nothing, got %+v", f)
	}
}

func TestAReadThatFailedIsAnErrorAndNoFact(t *testing.T) {
	for _, failing := range []string{"get", "list"} {
		w := newWatcher()
		w.Client = fake.NewClientBuilder().WithObjects(newSet(1)).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if failing == "get" {
					return errors.New("timeout")
				}
				return c.Get(ctx, key, o, opts...)
			},
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return errors.New("timeout")
			},
		}).Build()
		if _, err := w.Observe(t.Context(), newMemcached(1)); err == nil {
			t.Errorf("%s: expected an error", failing)
		}
	}
}

func TestAPodWakesTheObjectOfItsInstanceLabel(t *testing.T) {
	want := []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "web"}}}
	if got := objectOfPod(t.Context(), newPod("web-0")); !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
	other := newPod("db-0")
	other.Labels = map[string]string{nameLabel: "postgres", instanceLabel: "web"}
	if got := objectOfPod(t.Context(), other); len(got) > 0 {
		t.Errorf("expected a pod of another kind to enqueue nothing, got %v", got)
	}
}
