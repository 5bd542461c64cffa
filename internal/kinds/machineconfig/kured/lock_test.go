// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kured

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func TestTheHoldersOfKuredsLockAreRead(t *testing.T) {
	for text, want := range map[string][]string{
		"":  nil,
		"x": nil,
		`{"nodeID":"a","metadata":{"unschedulable":false},"created":"2026-11-25T11:00:00Z","TTL":0}`:                                {"a"},
		`{"nodeID":"a","created":"2026-11-25T11:59:00Z","TTL":3600000000000}`:                                                       {"a"},
		`{"nodeID":"a","created":"2026-11-25T10:00:00Z","TTL":3600000000000}`:                                                       nil,
		`{"maxOwners":2,"locks":[{"nodeID":"a","created":"2026-11-25T11:00:00Z"},{"nodeID":"b","created":"2026-11-25T11:00:00Z"}]}`: {"a", "b"},
		`{"maxOwners":2,"locks":[]}`: nil,
	} {
		if got := lockedBy(text, now); !slices.Equal(got, want) {
			t.Errorf("%s: expected the nodes %v, got %v", text, want, got)
		}
	}
}

// server is an API server on which node a holds kured's lock. It counts the reads.
type server struct {
	client.Reader
	reads int
	err   error
}

func (s *server) Get(_ context.Context, _ client.ObjectKey, set client.Object, _ ...client.GetOption) error {
	s.reads++
	set.SetAnnotations(map[string]string{annotation: `{"nodeID":"a"}`})
	return s.err
}

func TestTheLockIsReadAtMostOnceASecond(t *testing.T) {
	live, clock, locks := &server{}, clocktesting.NewFakeClock(now), &Locks{}
	for _, c := range []struct {
		wait  time.Duration
		reads int
	}{{0, 1}, {age - 1, 1}, {1, 2}, {-time.Hour, 3}} {
		clock.SetTime(clock.Now().Add(c.wait))
		got, err := locks.Holders(t.Context(), live, clock)
		if err != nil || !slices.Equal(got, []string{"a"}) || live.reads != c.reads {
			t.Errorf("after %s: expected node a and %d reads, got %v (%v) and %d", c.wait, c.reads, got, err, live.reads)
		}
	}
}

func TestALockThatCannotBeReadIsReadAgain(t *testing.T) {
	live, clock, locks := &server{err: errors.New("timeout")}, clocktesting.NewFakeClock(now), &Locks{}
	if _, err := locks.Holders(t.Context(), live, clock); err == nil {
		t.Error("expected an error, because the node may hold the lock")
	}
	live.err = nil
	if got, err := locks.Holders(t.Context(), live, clock); err != nil || len(got) != 1 {
		t.Errorf("expected node a, got %v (%v)", got, err)
	}
}
