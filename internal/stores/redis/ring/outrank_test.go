// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// Regression test: Valkey 9.1 listed a new replica as a primary forever, so opcrew never moved slots to new pods.
func TestAPrimaryGetsAHigherEpochWhileItsReplicaIsListedAsAPrimary(t *testing.T) {
	mistaken := func(name string) func(*world) {
		return func(w *world) { w.one(name).mistaken = true }
	}
	expect(t, map[string]situation{
		"a replica":          {world: formed(3), do: mistaken("g2"), step: "raise the epoch of 10.0.0.2:6379"},
		"its primary is new": {world: formed(3), do: func(w *world) { mistaken("g2")(w); w.one("h1").ConfigEpoch = mistakenEpoch + 1 }},
		"a primary":          {world: formed(3), do: mistaken("h2")},
	})
}

func TestGuestsOfANewClusterGetLowerEpochsThanAllHomes(t *testing.T) {
	w := fresh(4)
	step, _ := ring.Next(w.view(), w.ring)
	epochs := step.(redis.SetEpoch).Epochs
	seen := map[uint64]bool{}
	for _, guest := range w.p("g0 g1 g2 g3") {
		for _, home := range w.p("h0 h1 h2 h3") {
			if epochs[guest.address] >= epochs[home.address] {
				t.Errorf("expected guest %s to have a lower epoch than home %s, got %v", guest.address, home.address, epochs)
			}
		}
	}
	for _, epoch := range epochs {
		seen[epoch] = true
	}
	if len(seen) != 8 || seen[0] {
		t.Errorf("expected eight different epochs above 0, got %v", epochs)
	}
}
