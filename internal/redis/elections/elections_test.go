// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package elections

import (
	"testing"
	"time"
)

func TestServersPauseForFourNodeTimeoutsAndFourSecondsAtLeast(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{5 * time.Second: 20 * time.Second, 500 * time.Millisecond: 4 * time.Second, 0: 4 * time.Second} {
		if got := Pause(timeout); got != want {
			t.Errorf("%s: expected %s, got %s", timeout, want, got)
		}
	}
}

func TestOnlyValkeySince8_1ElectsAReplicaAgainAtOnce(t *testing.T) {
	for _, test := range []struct {
		version string
		valkey  bool
		want    bool
	}{
		{"7.0.15", false, false}, {"8.0.2", false, false}, {"8.6.0", false, false}, {"7.2.9", true, false}, {"8.0.4", true, false},
		{"8.1.0", true, true}, {"8.1", true, true}, {"9.1.2", true, true}, {"255.255.255", false, false}, {"unstable", true, false}, {"", true, false},
	} {
		if got := Free(test.version, test.valkey); got != test.want {
			t.Errorf("%q (Valkey: %t): expected %t", test.version, test.valkey, test.want)
		}
	}
}
