// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
)

func TestAClusterIsKnownSinceItWasFirstSeen(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "shop", Name: "rec"}, &Memory{}
	since := func(uid types.UID, now time.Time) time.Time {
		m.IsAnother(key, uid)
		return m.Recall(key, now, func(map[string]string) bool { return true }).Since
	}
	later := clustertest.Noon.Add(time.Minute)
	if first, again := since("one", clustertest.Noon), since("one", later); first != clustertest.Noon || again != clustertest.Noon {
		t.Errorf("expected it to be known since noon, got %s and %s", first, again)
	}
	if other := since("another", later); other != later {
		t.Errorf("expected another of its name to be known since it was seen, got %s", other)
	}
}

func TestAReplicaThatLostAnElectionIsLeftAloneForAWhile(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "shop", Name: "rec"}, &Memory{}
	guest, home := observed.Server{Address: "10.0.0.1:6380", Run: "guest"}, observed.Server{Address: "10.0.0.1:6379", Run: "home"}
	m.LostElection(key, guest.Run, clustertest.Noon.Add(20*time.Second))
	for _, after := range []time.Duration{19 * time.Second, 20 * time.Second} {
		now := clustertest.Noon.Add(after)
		known := m.Recall(key, now, func(map[string]string) bool { return true })
		got := observed.Servers{home, guest}.LostElections(known.LostElections, now)
		if got[home.Address] || got[guest.Address] != (after < 20*time.Second) {
			t.Errorf("after %s: expected the guest alone to be left alone, for 20 seconds, got %v", after, got)
		}
	}
}
