// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Regression: a permanent error that looked like a conflict was retried five times per second forever.
func TestAConflictThatLastsIsTriedLessAndLessOften(t *testing.T) {
	gold, silver, r := client.ObjectKey{Name: "gold"}, client.ObjectKey{Name: "silver"}, retries{}
	for i, want := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
		if got := r.wait(gold); got != want {
			t.Errorf("conflict %d: tried again after %s, expected %s", i+1, got, want)
		}
	}
	for range 100 {
		r.wait(gold)
	}
	if got := r.wait(gold); got != 10*time.Second {
		t.Errorf("tried again after %s, expected 10s at most", got)
	}
	if got := r.wait(silver); got != 200*time.Millisecond {
		t.Errorf("another object is tried again after %s, expected 200ms", got)
	}
	r.over(gold)
	if got := r.wait(gold); got != 200*time.Millisecond {
		t.Errorf("a new conflict is tried again after %s, expected 200ms", got)
	}
}
