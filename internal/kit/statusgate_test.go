// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAStatusIsWrittenAtMostEveryHalfSecond(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	gold, silver := client.ObjectKey{Name: "gold"}, client.ObjectKey{Name: "silver"}
	gate := statusGate{}
	expect := func(key client.ObjectKey, after, want time.Duration) {
		t.Helper()
		if got := gate.wait(key, noon.Add(after), statusInterval); got != want {
			t.Errorf("%s after the last write, %s waits for %s, expected %s", after, key.Name, got, want)
		}
	}
	expect(gold, 0, 0)
	gate.wrote(gold, noon)
	expect(gold, 0, 500*time.Millisecond)
	expect(gold, 300*time.Millisecond, 200*time.Millisecond)
	expect(gold, 500*time.Millisecond, 0)
	expect(gold, time.Hour, 0)
	expect(silver, 0, 0)

	gate.wrote(gold, noon.Add(time.Second))
	expect(gold, 1200*time.Millisecond, 300*time.Millisecond)
	gate.forget(gold)
	expect(gold, 1200*time.Millisecond, 0)
}

func TestAClockThatWasSetBackDelaysAStatusByHalfASecondAtMost(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	gate, key := statusGate{}, client.ObjectKey{Name: "gold"}
	gate.wrote(key, noon)
	if got := gate.wait(key, noon.Add(-time.Hour), statusInterval); got > 500*time.Millisecond {
		t.Errorf("the status waits for %s, expected 500ms at most", got)
	}
}
