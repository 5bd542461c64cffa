// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestAfterThreeRevertsInAMinuteTheChildIsLeftAlone(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	child := settings(ns, map[string]string{"mode": "fast"})
	ref := p.ensures(owner, child, ensure.Created, creation("configmaps")).Ref
	revert := func() {
		t.Helper()
		edit(t, "argocd", settingsOf(ns), `{"data":{"mode":"slow"}}`)
		p.catchesUp(ref)
	}
	for range 3 {
		revert()
		p.ensures(owner, child, ensure.Repaired, repair("configmaps"))
		p.ensures(owner, child, ensure.Unchanged, free)
		p.clock.Step(10 * time.Second)
	}
	revert()
	readOnly := cost{"get configmaps": 1} // this read finds the name of the other manager
	result := p.ensures(owner, child, ensure.Contested, readOnly)
	want := "ConfigMap " + ns + `/settings is changed back again and again by "argocd"; opcrew leaves it unchanged until `
	if !strings.HasPrefix(result.Message, want) || result.Again != time.Minute {
		t.Errorf("message %q, looked at again after %s; expected %q and 1m0s", result.Message, result.Again, want)
	}
	p.clock.Step(59 * time.Second)
	if result = p.ensures(owner, child, ensure.Contested, readOnly); result.Again != time.Second {
		t.Errorf("looked at again after %s, expected 1s", result.Again)
	}
	if got := current(t, settingsOf(ns)).Data["mode"]; got != "slow" {
		t.Errorf("mode %s, expected the other's value to stay for the time being", got)
	}
	p.clock.Step(time.Second)
	p.ensures(owner, child, ensure.Repaired, repair("configmaps"))
}

func TestAnEditOfTheUserEndsTheWaitOfAContest(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	child := settings(ns, map[string]string{"mode": "fast"})
	ref := p.ensures(owner, child, ensure.Created, creation("configmaps")).Ref
	for range 3 {
		edit(t, "argocd", settingsOf(ns), `{"data":{"mode":"slow"}}`)
		p.catchesUp(ref)
		p.ensures(owner, child, ensure.Repaired, repair("configmaps"))
	}
	edit(t, "argocd", settingsOf(ns), `{"data":{"mode":"slow"}}`)
	p.catchesUp(ref)
	p.ensures(owner, child, ensure.Contested, cost{"get configmaps": 1})
	p.ensures(owner, settings(ns, map[string]string{"mode": "slow"}), ensure.Applied, repair("configmaps"))
}

// If a webhook changes a value while opcrew writes the object, the managed fields do not name the webhook.
func TestARivalWithoutANameIsAnotherManager(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	child := settings(ns, map[string]string{"mode": "fast"})
	ref := p.ensures(owner, child, ensure.Created, creation("configmaps")).Ref
	for i := range 4 {
		edit(t, "opcrew", settingsOf(ns), `{"data":{"mode":"slow"}}`)
		p.catchesUp(ref)
		if i < 3 {
			p.ensures(owner, child, ensure.Repaired, repair("configmaps"))
		}
	}
	result := p.ensures(owner, child, ensure.Contested, cost{"get configmaps": 1})
	want := "ConfigMap " + ns + `/settings is changed back again and again by another manager; opcrew leaves it unchanged until `
	if !strings.HasPrefix(result.Message, want) {
		t.Errorf("message %q, expected %q", result.Message, want)
	}
}

func TestAQuotaIsNotTakenForARival(t *testing.T) {
	ns := env.Namespace(t)
	refused := true
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{intercept: interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if refused {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", context.DeadlineExceeded)
			}
			return c.Apply(ctx, object, opts...)
		},
	}})
	refused = false
	p.ensures(owner, settings(ns, map[string]string{"mode": "fast"}), ensure.Created, creation("configmaps"))
	refused = true
	slow := settings(ns, map[string]string{"mode": "slow"})
	for range 6 {
		if result, err := p.Ensure(t.Context(), owner, slow, false); !ensure.Refused(err) {
			t.Fatalf("%s (%v), expected the refusal each time", result.Action, err)
		}
	}
	refused = false
	p.ensures(owner, slow, ensure.Applied, repair("configmaps"))
}

// Random content differs at each creation, but a child that is created again still counts as the same child.
func TestAChildOfRandomContentThatIsDeletedAgainAndAgainIsLeftAloneToo(t *testing.T) {
	for random, want := range map[bool]ensure.Action{true: ensure.Contested, false: ensure.Created} {
		ns := env.Namespace(t)
		owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
		var last ensure.Action
		for i := range 4 {
			child := settings(ns, map[string]string{"key": fmt.Sprint(i)})
			child.Random = random
			result, err := p.Ensure(t.Context(), owner, child, false)
			if err != nil {
				t.Fatal(err)
			}
			p.catchesUp(result.Ref)
			if last = result.Action; i < 3 {
				if err := env.Client.Delete(t.Context(), settingsOf(ns)); err != nil {
					t.Fatal(err)
				}
				p.catchesUp(result.Ref)
			}
		}
		if last != want {
			t.Errorf("random %t: expected it to be %s the fourth time, got %s", random, want, last)
		}
	}
}

// madeAndDeleted creates a child several times, and deletes it each time.
func (p *process) madeAndDeleted(owner client.Object, child ensure.Child, times int, remove func()) ensure.Result {
	p.t.Helper()
	var last ensure.Result
	for range times {
		var err error
		if last, err = p.Ensure(p.t.Context(), owner, child, false); err != nil {
			p.t.Fatal(err)
		}
		if last.Action != ensure.Created {
			return last
		}
		p.catchesUp(last.Ref)
		remove()
		p.catchesUp(last.Ref)
	}
	return last
}

// The operator itself creates and deletes some children repeatedly. An example is the disruption budget of a cluster
// that has a second member only during updates.
func TestAChildThatTheOperatorItselfDeletesAgainAndAgainIsNoContest(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	prune := func() {
		t.Helper()
		if _, err := p.Prune(t.Context(), owner, nil, []client.ObjectList{&corev1.ConfigMapList{}}, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	child := settings(ns, map[string]string{"mode": "fast"})
	if last := p.madeAndDeleted(owner, child, 10, prune); last.Action != ensure.Created {
		t.Errorf("%s: %s; expected the child to be created each time, since only the operator deletes it", last.Action, last.Message)
	}
	deletes := func() {
		t.Helper()
		if err := env.Client.Delete(t.Context(), settingsOf(ns)); err != nil {
			t.Fatal(err)
		}
	}
	if last := p.madeAndDeleted(owner, child, 4, deletes); last.Action != ensure.Contested {
		t.Errorf("%s, expected a contest once another client has deleted the child three times", last.Action)
	}
}

func TestOwnDeletesDoNotHideThoseOfARival(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	turn := 0
	last := p.madeAndDeleted(owner, settings(ns, map[string]string{"mode": "fast"}), 8, func() {
		t.Helper()
		turn++
		err := error(nil)
		if turn%2 == 0 {
			_, err = p.Prune(t.Context(), owner, nil, []client.ObjectList{&corev1.ConfigMapList{}}, nil, false)
		} else {
			err = env.Client.Delete(t.Context(), settingsOf(ns))
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if last.Action != ensure.Contested || turn != 5 {
		t.Errorf("%s after %d deletions, expected a contest after the rival's third", last.Action, turn)
	}
}

// If a pod ends soon after its start, the operator deletes it and creates it again. This does not count as a contest,
// because no other manager is involved. But if it happens again and again, the operator must wait in between.
func TestAChildThatIsReplacedAgainAndAgainIsDelayed(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	child := settings(ns, map[string]string{"mode": "fast"})
	child.Once = true
	prune := func() {
		t.Helper()
		if _, err := p.Prune(t.Context(), owner, nil, []client.ObjectList{&corev1.ConfigMapList{}}, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	last := p.madeAndDeleted(owner, child, 4, prune)
	want := "ConfigMap " + ns + "/settings was created 3 times within a minute; opcrew creates it again at 12:01:00Z"
	if last.Action != ensure.Delayed || last.Message != want || last.Again != time.Minute {
		t.Errorf("%s: %q, looked at again after %s; expected %s: %q and 1m0s", last.Action, last.Message, last.Again, ensure.Delayed, want)
	}
	child = settings(ns, map[string]string{"mode": "slow"})
	child.Once = true
	if last = p.madeAndDeleted(owner, child, 1, prune); last.Action != ensure.Created {
		t.Errorf("%s, expected what the user has changed to be created at once", last.Action)
	}
	p.clock.Step(time.Minute)
	if last = p.madeAndDeleted(owner, child, 1, prune); last.Action != ensure.Created {
		t.Errorf("%s, expected it to be created after the wait", last.Action)
	}
}
