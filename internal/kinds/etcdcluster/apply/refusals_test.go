// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestARefusedStepIsTriedAgainAfterLongerAndLongerPauses(t *testing.T) {
	key, r := types.NamespacedName{Name: "example"}, Refusals{}
	in := func() time.Duration { return r.Of(key).Wait(clustertest.Noon) }
	if in() != 0 {
		t.Errorf("expected the first step without a pause, got %s", in())
	}
	for i, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		r.Record(key, clustertest.Noon, []string{"unhealthy cluster", ""}[min(i, 1)])
		if in() != want*time.Millisecond {
			t.Errorf("refusal %d: expected a pause of %d ms, got %s", i+1, want, in())
		}
	}
	if r.Of(key).Words != "unhealthy cluster" {
		t.Errorf("expected what the cluster said to stand, got %q", r.Of(key).Words)
	}
	if later := r.Of(key).Wait(clustertest.Noon.Add(time.Minute)); later != 0 {
		t.Errorf("expected no pause a minute later, got %s", later)
	}
	if r.Forget(key); in() != 0 || r.Of(key).Words != "" {
		t.Errorf("expected nothing to be left when a step was taken, got %+v", r.Of(key))
	}
}
