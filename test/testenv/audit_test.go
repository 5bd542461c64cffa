// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/failing"
)

func TestRequestsAreCountedExactlyByUserVerbAndResource(t *testing.T) {
	ns := env.Namespace(t)
	ada, bob := "ada@"+ns, "bob@"+ns
	adas := env.ClientFor(t, env.ConfigAs(ada, "system:masters"))
	bobs := env.ClientFor(t, env.ConfigAs(bob, "system:masters"))
	// The first request of a client also causes discovery requests, so make a request before the count starts.
	create(t, adas, configMap(ns, "ada-before"))
	create(t, bobs, configMap(ns, "bob-before"))

	mark := env.Audit.Mark(t)
	for i := range 3 {
		create(t, adas, configMap(ns, fmt.Sprintf("ada-%d", i)))
	}
	create(t, bobs, configMap(ns, "bob"))
	if err := adas.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "ada-0"}, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	calls := env.Audit.Since(t, mark)

	want := map[string]int{"create configmaps": 3, "get configmaps": 1}
	if diff := cmp.Diff(want, calls.By(ada).Tally()); diff != "" {
		t.Errorf("ada's requests (-want +got):\n%s", diff)
	}
	if got := len(calls.By(ada).Writes()); got != 3 {
		t.Errorf("ada's writes: %d, expected 3:\n%s", got, calls.By(ada))
	}
	if got := len(calls.By(bob).Counted()); got != 1 {
		t.Errorf("bob's calls: %d, expected 1:\n%s", got, calls.By(bob))
	}
}

func TestQuietFailsWithTheRequestsThatItSaw(t *testing.T) {
	ns := env.Namespace(t)
	loud := env.ClientFor(t, env.ConfigAs("loud", "system:masters"))
	create(t, loud, configMap(ns, "first"))
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_ = loud.Create(t.Context(), configMap(ns, fmt.Sprintf("noise-%d", i)))
			}
		}
	}()
	complaint := failing.Message(t, func(t testing.TB) { env.Quiet(t, "lowd", time.Millisecond) })
	if !strings.Contains(complaint, "lowd has made no request") {
		t.Errorf("Quiet should doubt a name that never made a request, it said %q", complaint)
	}
	complaint = failing.Message(t, func(t testing.TB) { env.Quiet(t, "loud", time.Second) })
	if !strings.Contains(complaint, "loud made ") || !strings.Contains(complaint, "create configmaps "+ns+"/noise-") {
		t.Errorf("Quiet should list the creation of ConfigMaps, it said %q", complaint)
	}
	complaint = failing.Message(t, func(t testing.TB) { env.Settle(t, "loud", time.Second, 2*time.Second) })
	if !strings.Contains(complaint, "loud did not stop making requests") {
		t.Errorf("Settle should give up on a client that never rests, it said %q", complaint)
	}
	close(stop)
	<-done
	env.Settle(t, "loud", 200*time.Millisecond, eventually.Long)
	env.Quiet(t, "loud", 200*time.Millisecond)
}

func TestLeasesEventsReviewsAndWatchesAreNotCounted(t *testing.T) {
	ns := env.Namespace(t)
	user := "resting@" + ns
	c := env.ClientFor(t, env.ConfigAs(user, "system:masters"))
	create(t, c, configMap(ns, "before"))

	mark := env.Audit.Mark(t)
	create(t, c,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "leader"}},
		&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "joined"}, InvolvedObject: corev1.ObjectReference{Namespace: ns}},
		&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"},
		}},
	)
	watch, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(ns))
	if err != nil {
		t.Fatal(err)
	}
	watch.Stop()
	calls := env.Audit.Since(t, mark).By(user)

	if counted := calls.Counted(); len(counted) != 0 {
		t.Errorf("counted, expected none:\n%s", counted)
	}
	want := map[string]int{"create leases": 1, "create events": 1, "create selfsubjectaccessreviews": 1, "watch configmaps": 1}
	if diff := cmp.Diff(want, calls.Tally()); diff != "" {
		t.Errorf("all requests (-want +got):\n%s", diff)
	}
}
