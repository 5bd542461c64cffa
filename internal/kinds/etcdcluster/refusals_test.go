// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestAStepWaitsForItsPauseAndIsLookedAtThen(t *testing.T) {
	w := observed(clustertest.New(clustertest.WithClaims), 3).asks(clustertest.Sized(5))
	if planAt(w.c, w.facts, clustertest.Noon).Step == nil {
		t.Fatal("expected a member to be added")
	}
	w.facts.refused.Until = clustertest.Noon.Add(300 * time.Millisecond)
	if plan := planAt(w.c, w.facts, clustertest.Noon); plan.Step != nil || plan.Again != 300*time.Millisecond {
		t.Errorf("expected no step, and a look after 300ms, got %+v", plan)
	}
}
