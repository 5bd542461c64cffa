// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Plan is what the loop carries out, in the order of these fields. The zero Plan changes nothing and waits for an
// event.
type Plan struct {
	// Hold makes the loop hold back and count all changes, as during a pause.
	Hold bool
	// PausedBy names the field by which the user has paused the object, such as spec.paused; "" if no field pauses it.
	// Such a field has the same effect as PausedAnnotation.
	PausedBy string
	// Finalizer is a finalizer that the loop adds to the object before any other change.
	Finalizer string
	// Children are the objects that must exist as declared.
	Children []ensure.Child
	// Prune holds an empty list object, such as a PodList, for each kind of children to clean up. The loop deletes the
	// object's children of these kinds that are not in Children, except those for which Stays returns true.
	Prune []client.ObjectList
	// Stays, if set, reports whether an undeclared child is kept.
	Stays func(client.Object) bool
	// Patches change objects of other owners, and in them only the few fields that opcrew owns.
	Patches []Patch
	// Step is an action outside the Kubernetes API. The loop takes this step only after all children and Patches of the
	// plan have been written without a failure.
	Step *Step
	// Release is a finalizer to remove from the object, because the cleanup that it protects is done.
	Release string
	// Events are Kubernetes events to write once all other changes of the plan, except Independent, have succeeded.
	Events []Event
	// Independent holds patches that do not affect the other parts of the plan. The loop applies them last, even after
	// a failure. It reports a refused patch, and tries the patch again after a minute without delaying other work.
	Independent []Patch
	// Waits describes for the log what the next step waits for; "" if there is no next step.
	Waits string
	// Again is how long to wait before the next reconcile if no event comes; 0 means to wait for an event.
	Again time.Duration
}

// LookAgain schedules another reconcile after a wait, unless one is scheduled earlier; 0 schedules nothing.
func (p *Plan) LookAgain(wait time.Duration) { p.Again = sooner(p.Again, wait) }

// sooner returns the shorter of two waits, where 0 means to wait for an event.
func sooner(a, b time.Duration) time.Duration {
	if a > 0 && (b <= 0 || a < b) {
		return a
	}
	return max(b, 0)
}

// Patch changes an object of another owner. Its operations include tests of the values on which it was based, so the
// patch fails if these values have changed.
type Patch struct {
	Object client.Object
	Type   types.PatchType
	Data   []byte
	// Intent is a hash of the intended result. If opcrew needs patches with the same intent again and again, another
	// manager is undoing them.
	Intent string
	// Fields are the paths that the patch writes. They serve to find the manager that undoes the patch.
	Fields *fieldpath.Set
}

// contest returns the key under which opcrew counts how often it has applied the patch, to detect another manager that
// keeps undoing it. The key names the object and the fields that the patch writes, so a conflict over one label does
// not stop other changes of the object.
func (p Patch) contest() types.UID {
	if p.Fields == nil {
		return p.Object.GetUID()
	}
	return p.Object.GetUID() + types.UID(" "+p.Fields.String())
}

// Step is an action outside the Kubernetes API, such as a call to a database.
type Step struct {
	// Name describes the step, such as "add member db-3".
	Name string
	// Why is the reason for the step, for the log; it may be empty.
	Why string
	// Do takes the step. If it returns ErrNotNow, nothing was done, and the loop tries the step again soon.
	Do func(ctx context.Context) error
	// DuringPause marks a step that stops background work of the operator, such as a move of slots. The loop takes this
	// step even while the object is paused.
	DuringPause bool
}

// ErrNotNow is returned by a step that was not taken, because something else must happen first.
var ErrNotNow = errors.New("the step cannot be taken yet")

// Event is a Kubernetes event to write about the object.
type Event struct {
	Related client.Object // a second object that the event concerns; may be nil
	Warning bool
	Reason  string
	Action  string
	Note    string
}
