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

// Plan is what the loop carries out, in the order of the fields. The zero Plan changes nothing, and waits for the next
// event.
type Plan struct {
	// Hold makes the loop change nothing, and count what it would change, as during a pause.
	Hold bool
	// PausedBy names the field by which the user has paused the object, such as spec.paused; "" if it is not paused. It
	// has the same effect as PausedAnnotation.
	PausedBy string
	// Finalizer is put on the object before anything else is done.
	Finalizer string
	// Children must exist as declared.
	Children []ensure.Child
	// Prune lists the kinds, as empty lists, whose undeclared children are deleted.
	Prune []client.ObjectList
	// Stays, if set, reports which undeclared children are kept.
	Stays func(client.Object) bool
	// Patches change objects of other owners, and only the few fields that opcrew owns there.
	Patches []Patch
	// Step is at most one action outside of the API. It is taken if all of the above succeeded.
	Step *Step
	// Release is a finalizer to remove, because its purpose is fulfilled.
	Release string
	// Events are written when all of the above has been carried out.
	Events []Event
	// Independent holds patches that depend on nothing, and that nothing depends on. They are made last, whatever failed.
	// A refusal is reported, delays nothing, and is tried again after a minute.
	Independent []Patch
	// Waits says what the next step waits for, for the log; "" if there is no next step.
	Waits string
	// Again is how long to wait before the next reconcile if no event comes; 0 means to wait for an event.
	Again time.Duration
}

// LookAgain makes the loop reconcile the object again after a wait, unless an earlier time is planned; 0 plans nothing.
func (p *Plan) LookAgain(wait time.Duration) { p.Again = sooner(p.Again, wait) }

// sooner returns the shorter of two waits; 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a > 0 && (b <= 0 || a < b) {
		return a
	}
	return max(b, 0)
}

// Patch changes an object that belongs to another owner. Its operations test the values on which it was decided, so
// that it fails if they have changed.
type Patch struct {
	Object client.Object
	Type   types.PatchType
	Data   []byte
	// Intent is a hash of the purpose of the patch. If patches with the same intent are needed again and again, another
	// manager contests the change.
	Intent string
	// Fields are the paths that the patch writes. They are used to name the other manager.
	Fields *fieldpath.Set
}

// contest returns the name of the contest over a patch: the object, and the fields that the patch writes. So a contest
// over one label does not hold up other changes of the object.
func (p Patch) contest() types.UID {
	if p.Fields == nil {
		return p.Object.GetUID()
	}
	return p.Object.GetUID() + types.UID(" "+p.Fields.String())
}

// Step is an action outside of the API, such as a call to a store.
type Step struct {
	// Name says what the step does, such as "add member db-3".
	Name string
	// Why gives the purpose of the step, for the log; it may be empty.
	Why string
	// Do takes the step. If it returns ErrNotNow, the step was not taken, and is tried again soon.
	Do func(ctx context.Context) error
	// DuringPause marks a step that only ends what the operator does in the background, such as a move of slots. It is
	// taken even while the object is paused.
	DuringPause bool
}

// ErrNotNow reports a step that was not taken because something else has to happen first.
var ErrNotNow = errors.New("not now")

// Event is an event about the object, for its users.
type Event struct {
	Related client.Object // may be nil
	Warning bool
	Reason  string
	Action  string
	Note    string
}
