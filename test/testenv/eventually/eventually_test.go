// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package eventually_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/failing"
)

var errNotYet = errors.New("two pods are pending")

// failFor returns a check that fails n times and then succeeds.
func failFor(n int) func() error {
	return func() error {
		if n--; n >= 0 {
			return errNotYet
		}
		return nil
	}
}

func TestTrueReturnsAsSoonAsTheCheckPasses(t *testing.T) {
	begin := time.Now()
	eventually.True(t, time.Minute, "the pods run", failFor(3))
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s for three pauses of milliseconds", took)
	}
}

func TestTrueFailsWithTheExpectationAndTheLastError(t *testing.T) {
	complaint := failing.Message(t, func(t testing.TB) {
		eventually.True(t, 20*time.Millisecond, "the pods run", failFor(1000))
	})
	for _, part := range []string{"within 20ms: the pods run", "tries: two pods are pending"} {
		if !strings.Contains(complaint, part) {
			t.Errorf("expected %q in %q", part, complaint)
		}
	}
}

func TestTrueAsksOnceMoreAtTheDeadline(t *testing.T) {
	begin := time.Now()
	eventually.True(t, 30*time.Millisecond, "the waiting time has passed", func() error {
		if time.Since(begin) < 30*time.Millisecond {
			return errNotYet
		}
		return nil
	})
}

func TestStaysFailsWhenTheCheckBreaks(t *testing.T) {
	calls := 0
	complaint := failing.Message(t, func(t testing.TB) {
		eventually.Stays(t, time.Minute, "the pods run", func() error {
			if calls++; calls > 2 {
				return errNotYet
			}
			return nil
		})
	})
	for _, part := range []string{"for 1m0s: the pods run", "broken after", "two pods are pending"} {
		if !strings.Contains(complaint, part) {
			t.Errorf("expected %q in %q", part, complaint)
		}
	}
}

func TestStaysReturnsWhenTheTimeIsOver(t *testing.T) {
	eventually.Stays(t, 20*time.Millisecond, "the pods run", func() error { return nil })
}

func TestGoneDistinguishesAbsenceFromAFailedRead(t *testing.T) {
	missing := errors.New("missing")
	notFound := func(err error) bool { return errors.Is(err, missing) }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"it is not there", missing, ""},
		{"it is there", nil, "the object still exists"},
		{"the server is down", errors.New("connection refused"), "connection refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := eventually.Gone(test.err, notFound); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, expected %q", got, test.want)
			}
		})
	}
}
