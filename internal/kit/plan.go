// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kit is what every kind shares: the reconcile loop (observe, plan, act,
// report), its events, metrics and status writes, the options of the cache, and the
// list entry by which a kind is registered.
//
// How children are put in place is in kit/ensure, the arithmetic of conditions in
// kit/condition. Nothing here knows any kind.
package kit

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Reconciler is what a kind supplies for one sort of key: O is the object by which
// it is keyed, F the facts that are read about it.
type Reconciler[O client.Object, F any] interface {
	// Observe reads into one struct of facts, and decides nothing.
	Observe(ctx context.Context, object O) (F, error)
	// Plan is pure: from the object, the facts and the time to what shall be.
	Plan(object O, facts F, now time.Time) Plan
}

// Reporter is a Reconciler whose object has a status of ours.
type Reporter[O client.Object, F any] interface {
	// Report is pure: it fills the object's status from the facts and from what was
	// done. It is also called after a failure.
	Report(object O, facts F, done Outcome, now time.Time)
}

// Conditioned is an object whose status has conditions and an observed generation.
type Conditioned interface {
	client.Object
	StatusConditions() *[]metav1.Condition
	StatusObservedGeneration() *int64
}

// Teller is a Reconciler that tells users of transitions beside those of Ready.
type Teller[O client.Object] interface {
	// Tell is pure: the events for what the status was and what it is now.
	Tell(before, after O) []Event
}

// Echoer is a Reporter whose object says elsewhere in its status too what Ready says.
type Echoer[O client.Object] interface {
	// Echo is pure: it says it after all, as the last word on Ready can be the loop's own.
	Echo(object O)
}

// Recorder is a Reporter whose status holds a record that next steps rest on. It is written at
// once, however lately the status was, and what comes next need not wait for it.
type Recorder[O client.Object] interface {
	// Records reports whether there is such a record in what the status is now, new against
	// what it was.
	Records(before, now O) bool
}

// Plan is what shall be. The zero Plan changes nothing and waits for the next event.
type Plan struct {
	// Hold carries out nothing and counts what would change, as a pause does.
	Hold bool
	// PausedBy names the field of the spec by which the user has paused the object, such as spec.paused; empty: none.
	// It has the effect of PausedAnnotation, and is reported as that is.
	PausedBy string
	// Finalizer is held on the object before anything else is done.
	Finalizer string
	// Release removes a finalizer: all that it stood for is done.
	Release string
	// Children shall exist as declared.
	Children []ensure.Child
	// Prune lists the kinds, as empty lists, whose undeclared children shall go.
	Prune []client.ObjectList
	// Stays, if any, says which of those stay although they are not declared.
	Stays func(client.Object) bool
	// Patches change objects of others, in the few fields that are ours.
	Patches []Patch
	// Aside are patches on which nothing else rests, and that rest on nothing else: they are made
	// last, whatever became of the rest. What is refused to them is told, holds up nothing, and is
	// asked for again after a minute, or once the object or the patches have changed.
	Aside []Patch
	// Step is at most one guarded action outside of the API; it runs after all of these but
	// what is aside.
	Step *Step
	// Events are told when the rest of the plan was carried out.
	Events []Event
	// Again is when to look again without an event; 0 is never.
	Again time.Duration
}

// Patch changes an object that belongs to someone else. Its operations carry tests
// of what they were decided on, so that a change in between makes it fail.
type Patch struct {
	Object client.Object
	Type   types.PatchType
	Data   []byte
	// Intent is a hash of what the patch is for. Patches of one intent that come back
	// again and again are a contest with someone else.
	Intent string
	// Fields are the paths that the patch writes, to name who else writes them.
	Fields *fieldpath.Set
}

// Step is an action outside of the API, such as a call to a store.
type Step struct {
	Name string
	// Do takes it. With ErrNotNow it was not taken, and is tried again soon without a word.
	Do func(ctx context.Context) error
	// Ends reports that it only ends what the operator does on its own, such as a move in the background: a pause does not
	// hold it back.
	Ends bool
}

// ErrNotNow reports a step that was not taken because something else has to come first.
var ErrNotNow = errors.New("not now")

// Event is asked to users on a transition.
type Event struct {
	Related client.Object // may be nil
	Warning bool
	Reason  string
	Action  string
	Note    string
}

// Outcome is what became of a plan.
type Outcome struct {
	// Paused: nothing was changed, because the user said so. PausedBy names how: an annotation, a field, or both.
	Paused   bool
	PausedBy string
	// Held is how many changes were held back.
	Held int
	// Results says what became of each child.
	Results []ensure.Result
	// Contested is the wait and the words of a contest over a patched object.
	Contested string
	// Err is the first failure; the rest of the plan was tried all the same where it
	// did not depend on it.
	Err error
	// aside: Err is of a patch aside, and the rest of the plan was carried out.
	aside bool
	// held: nothing may be changed, by a pause or by the plan itself.
	held bool
	// again is the shortest wait that any part asked for.
	again time.Duration
	// retry: a conflict; the same again soon, quietly.
	retry bool
	// untold: the status is not written yet, it was so a moment ago.
	untold bool
}

// First returns the first result with one of the actions.
func (o Outcome) First(actions ...ensure.Action) (ensure.Result, bool) {
	for _, result := range o.Results {
		if slices.Contains(actions, result.Action) {
			return result, true
		}
	}
	return ensure.Result{}, false
}

func (o *Outcome) lookAgain(wait time.Duration) { o.again = Sooner(o.again, wait) }

// Sooner is the shorter of two waits, of which 0 is never.
func Sooner(a, b time.Duration) time.Duration {
	if a > 0 && (b <= 0 || a < b) {
		return a
	}
	return max(b, 0)
}

// fail notes a failure. The first one counts, but for one that held up nothing.
func (o *Outcome) fail(err error) {
	if o.Err == nil || o.aside {
		o.Err, o.aside = err, false
	}
}
