// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"slices"
	"testing"
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

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

func TestAPoolLooksAgainWhileKuredHoldsALockAndNodesWait(t *testing.T) {
	waits := decision{verdicts: []rollout.NodeVerdict{{Node: "b", Verdict: rollout.Verdict{Reason: mcfgv1.ReasonBudgetUsed}}}}
	locked := facts{fleet: fleet.Fleet{Kured: []string{"a"}}}
	if got := again(locked, waits); got <= 0 || got > time.Minute {
		t.Errorf("expected another look within a minute, because no event says that the lock was released, got %s", got)
	}
	if got := again(locked, decision{}); got != 0 {
		t.Errorf("expected a pool at rest to wait for an event, got %s", got)
	}
}
