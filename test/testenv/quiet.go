// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"testing"
	"time"
)

// Quiet fails when the user makes any counted call within d (see Call.IsCounted),
// and lists what it saw. It always takes d: silence can only be waited for.
func (e *Env) Quiet(t testing.TB, user string, d time.Duration) {
	t.Helper()
	if !e.Audit.knows(t, user) {
		t.Fatalf("%s has made no request since the server started: is that the name under which it acts?", user)
	}
	if seen, _ := e.listen(t, user, d); len(seen) > 0 {
		t.Fatalf("%s is not at rest: %d calls within %s, expected none:\n%s", user, len(seen), d, seen)
	}
}

// Settle waits until the user has made no counted call for a whole d, and fails
// when that does not happen within timeout. It is what comes before Quiet: work
// that is still under way is not unrest. A silence from which this process woke late
// counts for nothing: the user, which may be in it, had no time to break it either.
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

// stall is how much later than it should a process wakes that had no time for anything.
const stall = 50 * time.Millisecond

// listen returns the counted calls that the user makes within d, and whether it ended late.
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
