// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestAClusterIsKnownSinceItWasFirstSeen(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "shop", Name: "rec"}, &memory{}
	since := func(uid types.UID, now time.Time) time.Time {
		m.isAnother(key, uid)
		return m.recall(key, now, func(map[string]string) bool { return true }).since
	}
	later := noon.Add(time.Minute)
	if first, again := since("one", noon), since("one", later); first != noon || again != noon {
		t.Errorf("expected it to be known since noon, got %s and %s", first, again)
	}
	if other := since("another", later); other != later {
		t.Errorf("expected another of its name to be known since it was seen, got %s", other)
	}
}

func TestAReplicaThatLostAnElectionIsLeftAloneForAWhile(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "shop", Name: "rec"}, &memory{}
	guest, home := server{address: "10.0.0.1:6380", run: "guest"}, server{address: "10.0.0.1:6379", run: "home"}
	m.lostElection(key, guest.run, noon.Add(20*time.Second))
	for _, after := range []time.Duration{19 * time.Second, 20 * time.Second} {
		now := noon.Add(after)
		known := m.recall(key, now, func(map[string]string) bool { return true })
		got := servers{home, guest}.beaten(known.beaten, now)
		if got[home.address] || got[guest.address] != (after < 20*time.Second) {
			t.Errorf("after %s: expected the guest alone to be left alone, for 20 seconds, got %v", after, got)
		}
	}
}
