// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"testing"
	"time"
)

// Quiet fails the test if the user makes a counted request within d (see Call.IsCounted), and lists the requests. It
// always waits for the whole time d.
func (e *Env) Quiet(t testing.TB, user string, d time.Duration) {
	t.Helper()
	if !e.Audit.knows(t, user) {
		t.Fatalf("%s has made no request since the server started; check whether this is the correct user name", user)
	}
	if seen, _ := e.listen(t, user, d); len(seen) > 0 {
		t.Fatalf("%s made %d requests within %s, expected none:\n%s", user, len(seen), d, seen)
	}
}

// Settle waits until a period d passes in which the user makes no counted request (see Call.IsCounted). It fails the
// test after timeout. Call Settle before Quiet, so that work in progress does not count. If the test process wakes up
// late, Settle starts another period: the process that sends the user's requests may have lacked CPU time too.
func (e *Env) Settle(t testing.TB, user string, d, timeout time.Duration) {
	t.Helper()
	seen, late := Calls(nil), false
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		if seen, late = e.listen(t, user, d); len(seen) == 0 && !late {
			return
		}
	}
	t.Fatalf("%s did not stop making requests within %s; in the last %s it made %d (this process woke up late: %t):\n%s", user, timeout, d, len(seen), late, seen)
}

// stall is the longest delay of this process that listen accepts. A longer delay means that the machine lacks CPU time.
const stall = 50 * time.Millisecond

// listen waits for the time d, and returns the counted requests that the user made during this time (see
// Call.IsCounted). late is true if this process woke up too late, so that missing requests prove nothing.
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
