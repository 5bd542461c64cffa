// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// anew is when a step is asked about again without an event: what it leads to may be no object's.
const anew = 250 * time.Millisecond

// await waits until what a step must lead to holds in the observer's view.
func (r *run) await(step Step) error {
	seen, missing, asked := -1, error(nil), time.Now()
	patience := max(step.Patience, r.subject.patience())
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		view, n, err := r.observer.view()
		if err != nil {
			return err
		}
		if n != seen || time.Since(asked) > anew {
			seen, missing, asked = n, step.Until(view), time.Now()
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

// stall is how much later than it should this process may wake for its silence to be the operator's.
const stall = 100 * time.Millisecond

// settle waits until the operator is at rest and the world stands still.
func (r *run) settle() {
	silence, stalled := r.subject.silence(), time.Time{}
	for deadline := time.Now().Add(2 * r.subject.patience()); time.Now().Before(deadline); {
		left := silence - min(r.wire.silent(), r.observer.silent(), time.Since(stalled))
		if left <= 0 && !r.isStarting() {
			return
		}
		due := time.Now().Add(max(left, 5*time.Millisecond))
		time.Sleep(time.Until(due))
		if time.Since(due) > stall {
			stalled = time.Now()
		}
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
