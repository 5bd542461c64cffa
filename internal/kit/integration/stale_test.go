// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestACacheThatDoesNotKnowOurWriteYetIsWaitedFor(t *testing.T) {
	ns := env.Namespace(t)
	events := &gate{}
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
	fast, slow := settings(ns, map[string]string{"mode": "fast"}), settings(ns, map[string]string{"mode": "slow"})

	events.close()
	defer events.open()
	p.spends(creation("configmaps"), func() { p.ensure(owner, fast) })
	ref := p.ensures(owner, fast, ensure.Waiting, cost{"get configmaps": 1}).Ref
	p.ensures(owner, slow, ensure.Waiting, cost{"get configmaps": 1})
	events.open()
	p.catchesUp(ref)
	p.ensures(owner, fast, ensure.Unchanged, free)

	events.close()
	p.spends(repair("configmaps"), func() { p.ensure(owner, slow) })
	p.ensures(owner, slow, ensure.Waiting, free)
	p.ensures(owner, fast, ensure.Waiting, free)
	events.open()
	p.catchesUp(ref)
	p.ensures(owner, slow, ensure.Unchanged, free)
}

func TestADriftThatIsAlreadyRepairedIsNotRepairedAgain(t *testing.T) {
	ns := env.Namespace(t)
	events := &gate{}
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
	child := settings(ns, map[string]string{"mode": "fast"})
	ref := p.ensures(owner, child, ensure.Created, creation("configmaps")).Ref
	edit(t, "kubectl-edit", settingsOf(ns), `{"data":{"mode":"slow"}}`)
	p.catchesUp(ref)
	events.close()
	defer events.open()
	p.spends(repair("configmaps"), func() { p.ensure(owner, child) })
	for range 5 {
		p.ensures(owner, child, ensure.Waiting, free)
	}
	events.open()
	p.catchesUp(ref)
	p.ensures(owner, child, ensure.Unchanged, free)
}

func TestAChildThatIsDeletedBehindTheCacheComesBack(t *testing.T) {
	ns := env.Namespace(t)
	events := &gate{}
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
	fast, slow := settings(ns, map[string]string{"mode": "fast"}), settings(ns, map[string]string{"mode": "slow"})
	ref := p.ensures(owner, fast, ensure.Created, creation("configmaps")).Ref
	events.close()
	defer events.open()
	p.spends(repair("configmaps"), func() { p.ensure(owner, slow) })
	if err := env.Client.Delete(t.Context(), settingsOf(ns)); err != nil {
		t.Fatal(err)
	}
	p.ensures(owner, slow, ensure.Waiting, free)
	events.open()
	p.catchesUp(ref)
	p.ensures(owner, slow, ensure.Created, creation("configmaps"))
	p.ensures(owner, slow, ensure.Unchanged, free)
}

// Regression: the cache showed that the garbage collector had deleted the children before it showed that the owner was
// deleted. opcrew then created all children again.
func TestChildrenOfAnOwnerThatIsGoneBehindTheCacheAreNotMadeAgain(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	child := settings(ns, map[string]string{"mode": "fast"})
	ref := p.ensures(owner, child, ensure.Created, creation("configmaps")).Ref
	for _, object := range []client.Object{owner, settingsOf(ns)} {
		if err := env.Client.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil { // it may be deleted already
			t.Fatal(err)
		}
	}
	p.catchesUp(ref)
	p.ensures(owner, child, ensure.Waiting, cost{"get configmaps": 2})

	heir := newOwner(t, ns, "owner")
	p.ensures(owner, child, ensure.Waiting, cost{"get configmaps": 2})
	p.ensures(heir, child, ensure.Created, creation("configmaps"))
}

// Regression: another controller had written the object, and the predicates of this one ignored the event of that write.
// So the loop looked again only after 5 seconds.
func TestAnObjectWhoseLastWriteTheCacheHasNotSeenIsWaitedFor(t *testing.T) {
	events := &gate{}
	l := newLoop(t, env.Namespace(t), setup{events: events})
	widget := l.widget("w")
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(widget)}
	events.close()
	defer events.open()
	l.spends(cost{statusWrite: 1}, func() { _, _ = l.Reconcile(t.Context(), request) })
	l.kind.seen = 1
	for _, wait := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
		l.clock.Step(time.Second)
		l.spends(free, func() {
			if result, err := l.Reconcile(t.Context(), request); err != nil || result.RequeueAfter != wait {
				t.Errorf("the reconcile gives %v (%v), expected it to wait for the event, %s at most", result, err, wait)
			}
		})
	}
	events.open()
	l.settles(widget)
	l.goesWell(widget, cost{statusWrite: 1})
}

func TestAChildInANamespaceThatIsMissingIsAnErrorAndNoConflict(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{everywhere: true})
	_, err := p.Ensure(t.Context(), owner, settings(ns+"-missing", nil), false)
	if err == nil || !strings.Contains(err.Error(), "not found") || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		t.Errorf("error %v, expected one that is reported and backs off: it does not pass by itself", err)
	}
}
