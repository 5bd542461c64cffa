// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"
)

// again is the interval at which await checks the condition of a step even if no object has changed. The condition may
// depend on something else, such as the content of a simulated etcd cluster.
const again = 250 * time.Millisecond

// await waits until the condition of a step holds for the objects that the observer has seen.
func (r *run) await(step Step) error {
	seen, missing, asked := -1, error(nil), time.Now()
	patience := max(step.Patience, r.subject.patience())
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		view, n, err := r.observer.view()
		if err != nil {
			return err
		}
		if n != seen || time.Since(asked) > again {
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

// stall is how much longer than requested a sleep of this process may take. If one takes even longer, the machine is
// overloaded. An operator that makes no requests on such a machine may still have work to do.
const stall = 100 * time.Millisecond

// settle waits until the operator makes no requests and no objects change for a while.
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
	r.problem("the operator does not stop writing: %d writes so far, see the end of the journal", len(r.wire.all()))
	must(fmt.Errorf("the operator did not stop writing within %s", 2*r.subject.patience()))
}

// moment is how long the operator must make no requests before pause assumes that the operator has processed all events
// that it has received.
const moment = 150 * time.Millisecond

// pause waits until the operator has made no requests for a moment, up to a limit.
func (r *run) pause() { r.linger(moment) }

// linger is like pause, but waits at least for the given time. A new operator process needs this time, because it
// starts to work only some time after its caches are filled.
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
