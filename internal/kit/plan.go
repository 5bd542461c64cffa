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

// Plan is what the loop carries out, in the order of the fields. The zero Plan changes nothing and waits for
// the next event.
type Plan struct {
	// Hold changes nothing and counts what would change, as a pause does.
	Hold bool
	// PausedBy names the field by which the user has paused the object, such as spec.paused; empty: none. It
	// has the effect of PausedAnnotation.
	PausedBy string
	// Finalizer is put on the object before anything else is done.
	Finalizer string
	// Children are to exist as declared.
	Children []ensure.Child
	// Prune lists the kinds, as empty lists, whose undeclared children are deleted.
	Prune []client.ObjectList
	// Stays, if set, reports which undeclared children are kept.
	Stays func(client.Object) bool
	// Patches change objects of other owners, in the few fields that are opcrew's.
	Patches []Patch
	// Step is at most one action outside of the API. It is taken if all of the above succeeded.
	Step *Step
	// Release is a finalizer to remove: all that it stands for is done.
	Release string
	// Events are written when all of the above was carried out.
	Events []Event
	// Independent patches depend on nothing, and nothing depends on them: they are made last, whatever
	// failed. What is refused to them is reported, delays nothing, and is tried again after a minute.
	Independent []Patch
	// Waits says what the next step waits for, for the log; empty: there is no next step.
	Waits string
	// Again is when to look again without an event; 0 means never.
	Again time.Duration
}

// LookAgain makes the loop reconcile the object again after a wait, unless a sooner time is planned; 0 means never.
func (p *Plan) LookAgain(wait time.Duration) { p.Again = sooner(p.Again, wait) }

// sooner is the shorter of two waits; 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a > 0 && (b <= 0 || a < b) {
		return a
	}
	return max(b, 0)
}

// Patch changes an object that belongs to another owner. Its operations test the values that it was decided
// on, so that it fails if they have changed.
type Patch struct {
	Object client.Object
	Type   types.PatchType
	Data   []byte
	// Intent is a hash of what the patch is for. Patches of one intent that are needed again and again are a
	// contest with another manager.
	Intent string
	// Fields are the paths that the patch writes, to name the other manager.
	Fields *fieldpath.Set
}

// contest is the name of the contest over a patch: the fields that it writes. A contest over one label holds
// up no other change of the object.
func (p Patch) contest() types.UID {
	if p.Fields == nil {
		return p.Object.GetUID()
	}
	return p.Object.GetUID() + types.UID(" "+p.Fields.String())
}

// Step is an action outside of the API, such as a call to a store.
type Step struct {
	// Name is what the step does, such as "add member db-3".
	Name string
	// Why is what the step is for, for the log; it may be empty.
	Why string
	// Do takes the step. If it returns ErrNotNow, the step was not taken, and is tried again soon.
	Do func(ctx context.Context) error
	// DuringPause marks a step that only ends what the operator does in the background, such as a move of
	// slots: a pause does not hold it back.
	DuringPause bool
}

// ErrNotNow reports a step that was not taken because something else has to happen first.
var ErrNotNow = errors.New("not now")

// Event is an event on the object, for its users.
type Event struct {
	Related client.Object // may be nil
	Warning bool
	Reason  string
	Action  string
	Note    string
}
