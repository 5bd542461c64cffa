// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"testing"
	"time"
)

// Quiet fails the test, and lists the calls, if the user makes any counted call within d (see Call.IsCounted). It
// always waits for the whole d.
func (e *Env) Quiet(t testing.TB, user string, d time.Duration) {
	t.Helper()
	if !e.Audit.knows(t, user) {
		t.Fatalf("%s has made no request since the server started: is that the name under which it acts?", user)
	}
	if seen, _ := e.listen(t, user, d); len(seen) > 0 {
		t.Fatalf("%s is not at rest: %d calls within %s, expected none:\n%s", user, len(seen), d, seen)
	}
}

// Settle waits until the user has made no counted call for a whole d, and fails the test if that takes longer than
// timeout. Call it before Quiet, so that work in progress does not count. Settle ignores a silence if this process woke
// up late: the user may have been starved of CPU too.
func (e *Env) Settle(t testing.TB, user string, d, timeout time.Duration) {
	t.Helper()
	seen, late := Calls(nil), false
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		if seen, late = e.listen(t, user, d); len(seen) == 0 && !late {
			return
		}
	}
	t.Fatalf("%s does not come to rest within %s; the last %s had %d calls (this process woke late: %t):\n%s", user, timeout, d, len(seen), late, seen)
}

// stall is how late this process may wake up before it counts as starved of CPU time.
const stall = 50 * time.Millisecond

// listen waits for d, and returns the counted calls (see Call.IsCounted) that the user made meanwhile. late reports
// that this process woke up too late to rely on the silence.
func (e *Env) listen(t testing.TB, user string, d time.Duration) (seen Calls, late bool) {
	t.Helper()
	mark := e.Audit.Mark(t)
	due := time.Now().Add(d)
	select {
	case <-time.After(d):
		late = time.Since(due) > stall
	case <-t.Context().Done():
		t.Fatalf("interrupted while listening to %s: %v", user, t.Context().Err())
	}
	return e.Audit.Since(t, mark).By(user).Counted(), late
}
