// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Outcome describes what was done when a plan was carried out.
type Outcome struct {
	// Now is when the plan was carried out. It is the time of the report.
	Now time.Time
	// Paused reports that the user has paused the object, so that nothing was changed. PausedBy names how: an annotation,
	// a field, or both.
	Paused   bool
	PausedBy string
	// Held is how many changes were held back.
	Held int
	// Results holds the results of the children.
	Results []ensure.Result
	// Contested reports a contest over a patched object; "" if there is none.
	Contested string
	// Err is the first failure. What did not depend on it was done.
	Err error

	// independent reports that Err is the error of an independent patch, so that the rest of the plan was carried out.
	independent bool
	// held reports that nothing may be changed, because of a pause or of Plan.Hold.
	held bool
	// wrote reports that something was written, or a step was taken.
	wrote bool
	// again is the shortest wait that any part requested.
	again time.Duration
	// retry reports that a write was decided on an older state. The next reconcile, which comes soon, decides again.
	retry bool
	// unreported reports that a change of Ready has not been written to the status yet, because the status was written a
	// moment ago.
	unreported bool
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

// count adds the result of one child.
func (o *Outcome) count(result ensure.Result) {
	switch result.Action {
	case ensure.Created, ensure.Applied, ensure.Repaired, ensure.Replaced, ensure.Pruned:
		o.wrote = true
	case ensure.Held:
		o.Held++
	}
}

// settled reports whether every child was checked, and is as declared or was changed to be so.
func (o Outcome) settled() bool {
	_, waiting := o.First(ensure.Waiting, "")
	return !waiting && !o.retry
}

func (o *Outcome) lookAgain(wait time.Duration) { o.again = sooner(o.again, wait) }

// fail records a failure. The first failure counts, unless it is that of an independent patch.
func (o *Outcome) fail(err error) {
	if o.Err == nil || o.independent {
		o.Err, o.independent = err, false
	}
}

// failWrite records a failed write. A write that was decided on an older state is tried again, and not reported.
func (o *Outcome) failWrite(err error) {
	if ensure.Outdated(err) {
		o.retry = true
		return
	}
	o.fail(err)
}

// failIndependent records the failure of an independent patch. Any other failure takes precedence.
func (o *Outcome) failIndependent(err error) {
	if o.Err == nil {
		o.Err, o.independent = err, true
	}
}

// join adds the outcome of independent patches, except their failure.
func (o *Outcome) join(other Outcome) {
	o.Held += other.Held
	o.retry = o.retry || other.retry
	o.wrote = o.wrote || other.wrote
	o.lookAgain(other.again)
	if o.Contested == "" {
		o.Contested = other.Contested
	}
}
