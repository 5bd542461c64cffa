// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Outcome records what was done when a plan was carried out. Report fills the status from it.
type Outcome struct {
	// Now is the time at which the plan was carried out. Reports use it as their time.
	Now time.Time
	// Paused is true if the user has paused the object, so that nothing was changed. PausedBy names the annotation, the
	// field or both that pause it.
	Paused   bool
	PausedBy string
	// Held is the number of changes that were held back.
	Held int
	// Results holds one result for each child.
	Results []ensure.Result
	// Contested describes a contest with another manager over a patched object; "" if there is none.
	Contested string
	// Err is the first failure. Parts of the plan that did not depend on the failed part were still carried out.
	Err error

	// independent is true if Err comes from an independent patch, on which nothing else in the plan depends. In that
	// case the other parts of the plan were carried out.
	independent bool
	// held is true if nothing may be changed, because of a pause or Plan.Hold.
	held bool
	// wrote is true if something was written or a step was taken.
	wrote bool
	// again is how long to wait before the next reconcile: the shortest wait that a part of the plan has requested; 0
	// if no part has requested one.
	again time.Duration
	// retry is true if a write was based on an older state. The next reconcile follows soon and decides again.
	retry bool
	// unreported is true if Ready has changed, but the status was written too recently to be written again yet.
	unreported bool
}

// First returns the first result that has one of the actions.
func (o Outcome) First(actions ...ensure.Action) (ensure.Result, bool) {
	for _, result := range o.Results {
		if slices.Contains(actions, result.Action) {
			return result, true
		}
	}
	return ensure.Result{}, false
}

// count adds the result of one child to the outcome.
func (o *Outcome) count(result ensure.Result) {
	switch result.Action {
	case ensure.Created, ensure.Applied, ensure.Repaired, ensure.Replaced, ensure.Pruned:
		o.wrote = true
	case ensure.Held:
		o.Held++
	}
}

// settled reports whether every child was checked and matches its declaration.
func (o Outcome) settled() bool {
	_, waiting := o.First(ensure.Waiting, "")
	return !waiting && !o.retry
}

func (o *Outcome) lookAgain(wait time.Duration) { o.again = sooner(o.again, wait) }

// fail records a failure. It keeps an earlier failure, unless that failure came from a patch on which nothing else
// depends.
func (o *Outcome) fail(err error) {
	if o.Err == nil || o.independent {
		o.Err, o.independent = err, false
	}
}

// failWrite records a failed write. If the write was based on an older state, it is retried instead of reported.
func (o *Outcome) failWrite(err error) {
	if ensure.Outdated(err) {
		o.retry = true
		return
	}
	o.fail(err)
}

// failIndependent records the failure of a patch on which nothing else in the plan depends. It keeps any earlier
// failure.
func (o *Outcome) failIndependent(err error) {
	if o.Err == nil {
		o.Err, o.independent = err, true
	}
}

// join adds the outcome of the patches on which nothing else depends, except their failure.
func (o *Outcome) join(other Outcome) {
	o.Held += other.Held
	o.retry = o.retry || other.retry
	o.wrote = o.wrote || other.wrote
	o.lookAgain(other.again)
	if o.Contested == "" {
		o.Contested = other.Contested
	}
}
