// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func random(namespace string, data map[string]string) ensure.Child {
	child := settings(namespace, data)
	child.Random = true
	return child
}

// Two operator processes act as the leader at the same time. A client may already use the content that one process has
// created, so the other process must not replace it.
func TestOfTwoChildrenOfRandomContentOnlyTheFirstIsCreated(t *testing.T) {
	for range 5 {
		ns := env.Namespace(t)
		owner := newOwner(t, ns, "owner")
		leaders := []*process{start(t, ns, setup{}), start(t, ns, setup{})}
		var results [2]ensure.Result
		var errs [2]error
		var both sync.WaitGroup
		for i, p := range leaders {
			both.Go(func() {
				child := random(ns, map[string]string{"key": string(rune('a' + i))})
				results[i], errs[i] = p.Ensure(t.Context(), owner, child, false)
			})
		}
		both.Wait()
		live := settingsOf(ns)
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
			t.Fatal(err)
		}
		for i := range leaders {
			made := errs[i] == nil && results[i].Action == ensure.Created
			if made && live.Data["key"] != string(rune('a'+i)) {
				t.Errorf("leader %d made a child, and another was made over it: %v", i, live.Data)
			}
			if errs[i] != nil && !apierrors.IsConflict(errs[i]) {
				t.Errorf("leader %d: expected a conflict, got %v", i, errs[i])
			}
		}
	}
}

func TestAChildOfRandomContentLosesWhatIsNoLongerDeclared(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	result := p.ensure(owner, random(ns, map[string]string{"key": "old", "next": "new"}))
	p.catchesUp(result.Ref)
	result = p.ensure(owner, decidedOn(t, ns, random(ns, map[string]string{"key": "new"})))
	p.catchesUp(result.Ref)
	live := settingsOf(ns)
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"key": "new"}; !maps.Equal(live.Data, want) {
		t.Errorf("expected %v, got %v", want, live.Data)
	}
	p.ensures(owner, decidedOn(t, ns, random(ns, map[string]string{"key": "new"})), ensure.Unchanged, free)
}

// decidedOn sets DecidedOn of a child to the current version of the live child. If the live child changes before opcrew
// writes it, the API server returns a conflict.
func decidedOn(t *testing.T, ns string, child ensure.Child) ensure.Child {
	t.Helper()
	live := settingsOf(ns)
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	child.DecidedOn = live.ResourceVersion
	return child
}

// Random content that was declared while the child was missing must not overwrite a child that another process has
// created meanwhile.
func TestANewChildIsNotAppliedOverOneThatExistsByNow(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	result := p.ensure(owner, random(ns, map[string]string{"key": "first"}))
	p.catchesUp(result.Ref)
	second := settings(ns, map[string]string{"key": "second"})
	second.New = true
	_, err := p.Ensure(t.Context(), owner, second, false)
	live := settingsOf(ns)
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
		t.Fatal(err)
	}
	if !apierrors.IsConflict(err) || live.Data["key"] != "first" {
		t.Errorf("expected a conflict and the first to stay, got %v, %v", err, live.Data)
	}
}
