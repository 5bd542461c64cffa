// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// checkEnd compares the objects before the deletion step with those at the same point of the run without faults.
func (r *run) checkEnd() {
	if r.reference == nil {
		r.settle()
		r.out.end = r.state()
		return
	}
	r.becomes("the end state", r.reference.end)
}

// checkDeletion checks that no objects of the kind exist, and that all other objects are the same as before this run of
// the workload.
func (r *run) checkDeletion() {
	r.becomes("after the deletion, the world", stateOf(r.observer.past.first, r.subject))
}

func (r *run) state() state {
	_, err := r.observer.catchUp(r.ctx)
	must(err)
	view, _, err := r.observer.view()
	must(err)
	return stateOf(view, r.subject)
}

// becomes waits until the operator has nothing to do and the objects equal the expected state.
func (r *run) becomes(what string, want state) {
	diff := ""
	for deadline := time.Now().Add(r.subject.patience()); ; {
		r.settle()
		if diff = differs(want, r.state()); diff == "" {
			return
		}
		if time.Now().After(deadline) {
			r.problem("%s differs:\n%s", what, diff)
			return
		}
	}
}

// verify checks all events that the observer has received, and all writes of the operator.
func (r *run) verify() {
	story := r.observer.story()
	writes := r.wire.all()
	story.attribute(writes)
	r.out.tally = story.tally()
	r.checkTally()
	for _, broken := range breaches(&story, r.subject, r.hooks.slack) {
		r.problem("%s", broken)
	}
	if r.hooks.silent != nil {
		if why := r.hooks.silent(); why != "" {
			r.problem("%s", why)
		}
	}
	if r.reference != nil {
		if most := 3*len(r.reference.writes) + 20; len(writes) > most {
			r.problem("too many writes: %d, but the reference has %d", len(writes), len(r.reference.writes))
		}
	}
}

// checkTally checks that the operator created and deleted no object more often than in the run without faults.
func (r *run) checkTally() {
	if r.reference == nil {
		return
	}
	keys := slices.SortedFunc(maps.Keys(r.out.tally), func(a, b Key) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		if slices.Contains(r.subject.Uncounted, key.Kind) || slices.Contains(r.subject.Uncounted, key.String()) {
			continue
		}
		got, want := r.out.tally[key], r.reference.tally[key]
		if got.created > want.created {
			r.problem("%s was created %s, but in the reference %s", key, times(got.created), times(want.created))
		}
		if got.deleted > want.deleted {
			r.problem("%s was deleted %s, but in the reference %s", key, times(got.deleted), times(want.deleted))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
