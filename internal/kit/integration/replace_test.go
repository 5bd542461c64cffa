// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// replacement holds the API calls that replace an object: a dry run that creates the new object, and the deletion of
// the old object.
var replacement = cost{"patch runtimeclasses": 1, "delete runtimeclasses": 1}

func TestWhatCannotBeChangedIsDeletedAndRecreated(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	p.ensures(owner, class(ns, "runc"), ensure.Created, creation("runtimeclasses"))
	first := current(t, classOf(ns))

	p.ensures(owner, class(ns, "gvisor"), ensure.Replaced, replacement)
	p.ensures(owner, class(ns, "gvisor"), ensure.Created, creation("runtimeclasses"))
	p.ensures(owner, class(ns, "gvisor"), ensure.Unchanged, free)
	if second := current(t, classOf(ns)); second.UID == first.UID || second.Handler != "gvisor" {
		t.Errorf("handler %s, recreated: %t; expected a new object with gvisor", second.Handler, second.UID != first.UID)
	}
}

func TestARefusalToReplaceIsReported(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	p.ensures(owner, class(ns, "runc"), ensure.Created, creation("runtimeclasses"))
	child := class(ns, "gvisor")
	child.ReplaceOn = nil
	for range 5 { // a contest begins after three repairs, but refusals do not count as repairs
		result, err := p.Ensure(t.Context(), owner, child, false)
		if !apierrors.IsInvalid(err) || !ensure.Refused(err) || result.Action != "" {
			t.Fatalf("%q (%v), expected the server to refuse it as invalid", result.Action, err)
		}
	}
}

func TestAnObjectThatIsGoingAwayIsWaitedFor(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	ref := p.ensures(owner, class(ns, "runc"), ensure.Created, creation("runtimeclasses")).Ref
	edit(t, "kubectl-edit", classOf(ns), `{"metadata":{"finalizers":["example.com/hold"]}}`)
	p.catchesUp(ref)
	p.ensures(owner, class(ns, "gvisor"), ensure.Replaced, replacement)
	p.ensures(owner, class(ns, "gvisor"), ensure.Waiting, free)

	// This object is still the child, although the cache no longer selects it without the label.
	edit(t, "kubectl-edit", classOf(ns), `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
	p.catchesUp(ref)
	p.ensures(owner, class(ns, "gvisor"), ensure.Waiting, cost{"get runtimeclasses": 1})
	edit(t, "kubectl-edit", classOf(ns), `{"metadata":{"finalizers":null}}`)
	p.catchesUp(ref)
	p.ensures(owner, class(ns, "gvisor"), ensure.Created, creation("runtimeclasses"))
}

func TestOnlyTheObjectThatWasLookedAtIsDeleted(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, ns string){
		"it was changed": func(t *testing.T, ns string) {
			edit(t, "kubectl-edit", classOf(ns), `{"metadata":{"annotations":{"keep":"me"}}}`)
		},
		"it was recreated": func(t *testing.T, ns string) {
			again := current(t, classOf(ns))
			if err := env.Client.Delete(t.Context(), classOf(ns)); err != nil {
				t.Fatal(err)
			}
			again.ResourceVersion, again.UID = "", ""
			create(t, again)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := env.Namespace(t)
			events := &gate{}
			owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
			p.ensures(owner, class(ns, "runc"), ensure.Created, creation("runtimeclasses"))
			events.close()
			defer events.open()
			change(t, ns)
			uid := current(t, classOf(ns)).UID
			result, err := p.Ensure(t.Context(), owner, class(ns, "gvisor"), false)
			if !apierrors.IsConflict(err) || result.Action != "" {
				t.Errorf("%q (%v), expected a conflict and nothing done", result.Action, err)
			}
			if got := current(t, classOf(ns)); got.UID != uid || got.DeletionTimestamp != nil {
				t.Error("it was deleted, expected it to stay")
			}
		})
	}
}
