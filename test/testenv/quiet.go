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
	if len(e.Audit.Since(t, Mark{}).By(user)) == 0 {
		t.Fatalf("%s has made no request since the server started: is that the name under which it acts?", user)
	}
	if seen := e.listen(t, user, d); len(seen) > 0 {
		t.Fatalf("%s is not at rest: %d calls within %s, expected none:\n%s", user, len(seen), d, seen)
	}
}

// Settle waits until the user has made no counted call for a whole d, and fails
// when that does not happen within timeout. It is what comes before Quiet: work
// that is still under way is not unrest.
func (e *Env) Settle(t testing.TB, user string, d, timeout time.Duration) {
	t.Helper()
	var seen Calls
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		if seen = e.listen(t, user, d); len(seen) == 0 {
			return
		}
	}
	t.Fatalf("%s does not come to rest within %s; the last %s had %d calls:\n%s", user, timeout, d, len(seen), seen)
}

// listen returns the counted calls that the user makes within d.
func (e *Env) listen(t testing.TB, user string, d time.Duration) Calls {
	t.Helper()
	mark := e.Audit.Mark(t)
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatalf("interrupted while listening to %s: %v", user, t.Context().Err())
	}
	return e.Audit.Since(t, mark).By(user).Counted()
}
