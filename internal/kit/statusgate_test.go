// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
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
	gate.wrote(gold, noon, true, false)
	expect(gold, 0, 500*time.Millisecond)
	expect(gold, 300*time.Millisecond, 200*time.Millisecond)
	expect(gold, 500*time.Millisecond, 0)
	expect(gold, time.Hour, 0)
	expect(silver, 0, 0)

	gate.wrote(gold, noon.Add(time.Second), false, false)
	expect(gold, 1200*time.Millisecond, 300*time.Millisecond)
	gate.forget(gold)
	expect(gold, 1200*time.Millisecond, 0)
}

func TestAClockThatWasSetBackDelaysAStatusByHalfASecondAtMost(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	gate, key := statusGate{}, client.ObjectKey{Name: "gold"}
	gate.wrote(key, noon, true, false)
	if got := gate.wait(key, noon.Add(-time.Hour), statusInterval); got > 500*time.Millisecond {
		t.Errorf("the status waits for %s, expected 500ms at most", got)
	}
}

func TestProgressOfANewObjectIsReportedTogetherWithWhatFollowsSoon(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key := client.ObjectKey{Name: "gold"}
	for _, test := range []struct {
		name string
		// first is when the progress was made, and again is when the gate is asked again how long to wait. Both are
		// times since the last write of the status.
		first, again time.Duration
		want         time.Duration
	}{
		{"a pod at once", 0, 0, 10 * time.Second},
		{"a pod after 2 s", 2 * time.Second, 2 * time.Second, 10 * time.Second},
		{"another one meanwhile", 2 * time.Second, 3 * time.Second, 9 * time.Second},
		{"its time has come", 2 * time.Second, 12 * time.Second, 0},
		{"a pod after 8 s", 8 * time.Second, 8 * time.Second, 16 * time.Second},
		{"a pod after an hour", time.Hour, time.Hour, time.Minute},
		{"a clock that was set back", time.Hour, time.Second, 10 * time.Second},
	} {
		gate := statusGate{}
		expect := func(after, want time.Duration) {
			t.Helper()
			if got := gate.waitProgress(key, noon.Add(after)); got != want {
				t.Errorf("%s: the status waits for %s, expected %s", test.name, got, want)
			}
		}
		expect(0, 0)
		gate.wrote(key, noon, true, false)
		gate.waitProgress(key, noon.Add(test.first))
		expect(test.again, test.want)

		gate.wrote(key, noon, false, false) // the object is not Ready yet
		expect(10*time.Second, 20*time.Second)
		gate.wrote(key, noon, false, true)
		expect(10*time.Second, 0)
		expect(time.Second, 2*time.Second)
	}
}

func TestProgressOfVeryManyThatAreMadeAtATimeIsHeldBackForLonger(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key := func(i int) client.ObjectKey { return client.ObjectKey{Name: fmt.Sprintf("pool-%d", i)} }
	gate := statusGate{}
	for i := range 400 {
		gate.wrote(key(i), noon, true, false)
	}
	expect := func(i int, what string, want time.Duration) {
		t.Helper()
		if got := gate.waitProgress(key(i), noon.Add(time.Second)); got != want {
			t.Errorf("%s: the status waits for %s, expected %s", what, got, want)
		}
	}
	expect(0, "400 are being made", 2*time.Minute)
	gate.wrote(key(1), noon, false, true)
	gate.wrote(key(1), noon, false, true)
	for i := 2; i < 380; i++ {
		gate.forget(key(i))
	}
	expect(0, "it began to wait for 400", 2*time.Minute)
	expect(398, "21 are being made", 10*time.Second)
	for i := range 2000 {
		gate.wrote(key(1000+i), noon, true, false)
	}
	expect(399, "2021 are being made", 5*time.Minute)
}
