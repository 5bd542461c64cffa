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

func TestHowLongAReplicaHasFollowedIsTheAgeOfItsPrimaryAsAClient(t *testing.T) {
	const line = "id=9 addr=10.0.0.1:6379 laddr=10.0.0.2:41000 fd=12 name= age=17 idle=0 flags=M db=0 cmd=ping user=(superuser)\n"
	for list, want := range map[string]time.Duration{line: 17 * time.Second, "": 0, "\n": 0} {
		if got := Following(list); got != want {
			t.Errorf("%q: expected %s, got %s", list, want, got)
		}
	}
}

func TestAReplicaMayHaveBeenElectedWhereItRanBeforeItFollowed(t *testing.T) {
	const pause = 20 * time.Second
	for past, want := range map[Past]bool{
		{Led: true, Uptime: time.Hour, Following: 19 * time.Second}:   true,
		{Led: true, Uptime: time.Hour, Following: 20 * time.Second}:   false,
		{Led: true, Uptime: 10 * time.Second, Following: time.Second}: true,
		// The replica may have been a primary before it received a full copy, which resets Led.
		{Uptime: time.Hour, Following: time.Second}: true,
		// The replica began to follow its primary a moment after its start.
		{Uptime: 21 * time.Second, Following: 16 * time.Second}: false,
		{Uptime: 10 * time.Second, Following: time.Second}:      false,
		{Uptime: time.Hour, Following: time.Hour}:               false,
	} {
		if got := past.Recent(pause); got != want {
			t.Errorf("%+v: expected %t", past, want)
		}
	}
}
