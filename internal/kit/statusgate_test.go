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

func TestProgressIsToldTogetherWithWhatFollowsSoon(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key := client.ObjectKey{Name: "gold"}
	for _, test := range []struct {
		name         string
		first, again time.Duration // when there is progress to tell, after the last status, and when it is asked again
		want         time.Duration
	}{
		{"a pod at once", 0, 0, 3 * time.Second},
		{"a pod after 2 s", 2 * time.Second, 2 * time.Second, time.Second},
		{"a pod after 4 s", 4 * time.Second, 4 * time.Second, 2 * time.Second},
		{"another one meanwhile", 4 * time.Second, 5 * time.Second, time.Second},
		{"its time has come", 4 * time.Second, 6 * time.Second, 0},
		{"a pod after 16 s", 16 * time.Second, 16 * time.Second, 8 * time.Second},
		{"a pod after an hour", time.Hour, time.Hour, 10 * time.Second},
		{"a clock that was set back", time.Hour, time.Second, 2 * time.Second},
	} {
		gate := statusGate{}
		if got := gate.waitProgress(key, noon); got != 0 {
			t.Errorf("%s: the first status waits for %s", test.name, got)
		}
		gate.wrote(key, noon)
		gate.waitProgress(key, noon.Add(test.first))
		if got := gate.waitProgress(key, noon.Add(test.again)); got != test.want {
			t.Errorf("%s: the status waits for %s, expected %s", test.name, got, test.want)
		}
		gate.wrote(key, noon.Add(2*time.Hour))
		if got := gate.waitProgress(key, noon.Add(2*time.Hour+2*time.Second)); got != time.Second {
			t.Errorf("%s: after a status the next waits for %s, expected 1s", test.name, got)
		}
	}
}
