// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// await waits until what a step must lead to holds in the observer's view.
func (r *run) await(step Step) error {
	seen, missing := -1, error(nil)
	patience := max(step.Patience, r.subject.patience())
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		view, n, err := r.observer.view()
		if err != nil {
			return err
		}
		if n != seen {
			seen, missing = n, step.Until(view)
		}
		if missing == nil {
			r.journal.add("    holds: %s", step.Name)
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s after the step %q: %w", patience, step.Name, missing)
		}
	}
}

// settle waits until the operator is at rest and the world stands still.
func (r *run) settle() {
	silence := r.subject.silence()
	for deadline := time.Now().Add(2 * r.subject.patience()); time.Now().Before(deadline); {
		left := silence - min(r.wire.silent(), r.observer.silent())
		if left <= 0 && !r.isStarting() {
			return
		}
		time.Sleep(max(left, 5*time.Millisecond))
	}
	r.problem("the operator does not come to rest: %d writes so far, see the journal's end", len(r.wire.all()))
	must(fmt.Errorf("not at rest after %s", 2*r.subject.patience()))
}

// moment is how long the operator must have been silent to have done what it can do on
// what it sees.
const moment = 150 * time.Millisecond

// pause waits until the operator has done what it can do, but not for long.
func (r *run) pause() { r.linger(moment) }

// linger is a pause of at least so long: new processes begin their work a while after
// their caches are full.
func (r *run) linger(least time.Duration) {
	begin := time.Now()
	for time.Since(begin) < least+most {
		if time.Since(begin) >= least && r.wire.silent() >= moment && !r.isStarting() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (r *run) isStarting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starting > 0
}
