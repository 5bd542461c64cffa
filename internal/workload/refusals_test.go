// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// searcher wraps Refusals and counts how often it queries the API server.
type searcher struct {
	*Refusals
	clock *clocktesting.FakeClock
	words string
	fails error
	asked int
}

func newSearcher() *searcher {
	s := &searcher{clock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			s.asked++
			if s.words != "" {
				list.(*corev1.EventList).Items = []corev1.Event{{Message: s.words}}
			}
			return s.fails
		},
	}).Build()
	s.Refusals = &Refusals{Live: live, Clock: s.clock}
	return s
}

func (s *searcher) why(t *testing.T, known bool) Refusal {
	t.Helper()
	return s.Why(t.Context(), client.ObjectKey{Name: "web"}, owner(), known)
}

// Regression: while pods were missing and no event explained it, opcrew read the events every two seconds.
func TestTheEventsOfMissingPodsAreAskedLessAndLessOften(t *testing.T) {
	s := newSearcher()
	for range 10 * 60 { // ten minutes with one reconcile per second
		s.why(t, false)
		s.clock.Step(time.Second)
	}
	if s.asked < 8 || s.asked > 15 {
		t.Errorf("expected about a dozen questions in ten minutes, got %d", s.asked)
	}
}

func TestARefusalIsRememberedUntilTheNextQuestion(t *testing.T) {
	s := newSearcher()
	if got := s.why(t, false); got != (Refusal{"", RefusalWait}) {
		t.Errorf("expected another look after %s while the pod may be on its way, got %+v", RefusalWait, got)
	}
	s.words = "exceeded quota"
	s.clock.Step(RefusalWait)
	if got := s.why(t, false); got.Words != s.words {
		t.Errorf("expected the words of the refusal, got %+v", got)
	}
	s.clock.Step(RefusalWait / 2)
	if got := s.why(t, false); got.Words != s.words || got.Again != RefusalWait/2 || s.asked != 1 {
		t.Errorf("expected the same without another question, got %+v after %d", got, s.asked)
	}
}

func TestPodsThatAreMissingAgainAreAnotherSearch(t *testing.T) {
	s := newSearcher()
	s.words = "exceeded quota"
	s.why(t, true)
	s.Forget(client.ObjectKey{Name: "web"})
	if got := s.why(t, false); got.Words != "" {
		t.Errorf("expected no word of an old refusal, got %+v", got)
	}
}

func TestAKnownRefusalIsAskedForAtOnce(t *testing.T) {
	s := newSearcher()
	s.words = "exceeded quota"
	if got := s.why(t, true); got.Words != s.words {
		t.Errorf("expected a new process to take nothing back that was said, got %+v", got)
	}
}

func TestEventsThatCannotBeReadTakeNothingBackAndStandInNobodysWay(t *testing.T) {
	s := newSearcher()
	s.words = "exceeded quota"
	s.why(t, true)
	s.words, s.fails = "", errors.New("the server is busy")
	s.clock.Step(time.Minute)
	if got := s.why(t, false); got.Words != "exceeded quota" || got.Again == 0 || s.asked != 2 {
		t.Errorf("expected the same words and another look, got %+v after %d", got, s.asked)
	}
}

// Regression: opcrew still reported "RuntimeClass not found" for pods that were missing because of a newer spec.
func TestARefusalOfAnEarlierSpecExplainsNothing(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(2000, 0))
	set := owner()
	set.Generation = 1
	changed := time.Unix(990, 0)
	events := []client.Object{event("uid", failedCreate, "RuntimeClass gold not found", 0)}
	live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			status := metav1.ManagedFieldsEntry{Manager: "kube-controller-manager", Subresource: "status", Time: &metav1.Time{Time: time.Unix(1999, 0)}}
			into.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "opcrew", Time: &metav1.Time{Time: changed}}, status})
			return nil
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return reader(events...).List(ctx, list, options...)
		},
	}).Build()
	searches := &Refusals{Live: live, Clock: clock}
	expect := func(r *Refusals, known bool, want, when string) {
		t.Helper()
		if got := r.Why(t.Context(), client.ObjectKey{Name: "web"}, set, known); got.Words != want {
			t.Errorf("%s: expected the pods to be missing for %q, got %q", when, want, got.Words)
		}
	}
	expect(searches, true, "RuntimeClass gold not found", "as it was refused")
	set.Generation, changed = 2, time.Unix(1000, 0)
	expect(searches, false, "", "the spec has changed just now")
	expect(searches, true, "", "within the second of the last event")
	expect(&Refusals{Live: live, Clock: clock}, true, "", "the operator was restarted")
	events = append(events, event("uid", failedCreate, "exceeded quota", 1))
	clock.Step(RefusalWait)
	expect(searches, true, "exceeded quota", "a pod of the present spec was refused")
}

func TestWhatWasSaidOfAnotherMakerIsForgotten(t *testing.T) {
	s := newSearcher()
	s.words = "no such class"
	first, second := &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaim{}
	first.UID, second.UID = "1", "2"
	key := client.ObjectKey{Name: "web"}
	if got := s.Why(t.Context(), key, first, true); got.Words != s.words {
		t.Errorf("expected the words about the claim, got %+v", got)
	}
	if got := s.Why(t.Context(), key, second, false); got.Words != "" {
		t.Errorf("expected nothing to be known of another claim yet, got %+v", got)
	}
}
