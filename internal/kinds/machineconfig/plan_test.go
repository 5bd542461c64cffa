// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"testing"
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

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

// The reconciler of nodes takes no step while the cache shows an old version of another node. If another kind wrote that
// node, its event may wake nothing.
func TestAPoolLooksAgainWhileANodeHasAStepToTake(t *testing.T) {
	due := decision{verdicts: []rollout.NodeVerdict{{Node: "b", Verdict: rollout.Verdict{Action: rollout.Order, Config: "rendered-x"}}}}
	if got := again(facts{}, due); got <= 0 || got > time.Minute {
		t.Errorf("expected another look within a minute, got %s", got)
	}
}
