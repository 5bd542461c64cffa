// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestARefusedStepIsTriedAgainAfterLongerAndLongerPauses(t *testing.T) {
	key, r := types.NamespacedName{Name: "example"}, refusals{}
	in := func() time.Duration { return facts{now: noon, refused: r.of(key)}.retriesIn() }
	if in() != 0 {
		t.Errorf("expected the first step without a pause, got %s", in())
	}
	for i, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		r.note(key, noon, []string{"unhealthy cluster", ""}[min(i, 1)])
		if in() != want*time.Millisecond {
			t.Errorf("refusal %d: expected a pause of %d ms, got %s", i+1, want, in())
		}
	}
	if r.of(key).words != "unhealthy cluster" {
		t.Errorf("expected what the cluster said to stand, got %q", r.of(key).words)
	}
	if later := (facts{now: noon.Add(time.Minute), refused: r.of(key)}); later.retriesIn() != 0 {
		t.Errorf("expected no pause a minute later, got %s", later.retriesIn())
	}
	if r.forget(key); in() != 0 || r.of(key).words != "" {
		t.Errorf("expected nothing to be left when a step was taken, got %+v", r.of(key))
	}
}

func TestAStepWaitsForItsPauseAndIsLookedAtThen(t *testing.T) {
	w := observed(newCluster(withClaims), 3).asks(sized(5))
	if (&reconciler{}).Plan(w.c, w.facts, noon).Step == nil {
		t.Fatal("expected a member to be added")
	}
	w.facts.refused.until = noon.Add(300 * time.Millisecond)
	if plan := (&reconciler{}).Plan(w.c, w.facts, noon); plan.Step != nil || plan.Again != 300*time.Millisecond {
		t.Errorf("expected no step, and a look after 300ms, got %+v", plan)
	}
}
