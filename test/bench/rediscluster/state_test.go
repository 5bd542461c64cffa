// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// glance is the interval at which the test checks all servers of a cluster.
const glance = 50 * time.Millisecond

// unexpected is a step or decision of the operator that the test does not expect.
type unexpected struct {
	step ring.Step
	why  ring.Why
}

func (u unexpected) Error() string {
	return fmt.Sprintf("next is %v; refused: %v", u.step, u.why.Refusals)
}

// until returns the time from the given moment until the cluster is complete. All servers must report that every slot
// is served, and the given number of servers must be replicas in sync.
func (c *cluster) until(from time.Time, replicas int, addresses []string) time.Duration {
	c.Helper()
	var last string
	for time.Since(from) < patience {
		asked := time.Now()
		if last = whole(c.ask(addresses), replicas); last == "" {
			return time.Since(from)
		}
		time.Sleep(glance - min(glance, time.Since(asked)))
	}
	c.Fatalf("expected all slots to be served and %d replicas to be in sync within %s: %s", replicas, patience, last)
	return 0
}

func (c *cluster) ask(addresses []string) []redis.NodeStatus {
	out := make([]redis.NodeStatus, len(addresses))
	var asking sync.WaitGroup
	for i, address := range addresses {
		asking.Go(func() { out[i], _ = c.store.Status(c.Context(), address) }) // the status also contains the error
	}
	asking.Wait()
	return out
}

// whole returns what the cluster still lacks; "" if it is complete.
func whole(servers []redis.NodeStatus, replicas int) string {
	inSync := 0
	for _, s := range servers {
		switch slots := served(s, servers); {
		case !s.Answers():
			return fmt.Sprintf("a server does not answer: %v", s.Err)
		case !s.ClusterOK || slots < redis.SlotCount:
			return fmt.Sprintf("%s knows who serves %d slots, and ok is %t", s.ID, slots, s.ClusterOK)
		case s.Role == redis.Replica && s.LinkUp:
			inSync++
		}
	}
	if inSync < replicas {
		return fmt.Sprintf("%d replicas are in sync", inSync)
	}
	return ""
}

// served counts the slots that a server considers served. A slot counts only if the test has also queried the server
// that serves it, because a server may not know yet that a lost peer has failed.
func served(by redis.NodeStatus, servers []redis.NodeStatus) int {
	n := 0
	for _, peer := range by.Known {
		asked := slices.ContainsFunc(servers, func(s redis.NodeStatus) bool { return s.ID == peer.ID })
		if asked && !peer.Failing && !peer.Failed {
			n += peer.Slots.Len()
		}
	}
	return n
}

func TestSlotsOfAServerThatIsSuspectedOrLostAreNotServed(t *testing.T) {
	slots := redis.Slots{{First: 0, Last: redis.SlotCount - 1}}
	known := []redis.Peer{{ID: "a", Myself: true}, {ID: "b", Slots: slots}}
	a, b := redis.NodeStatus{ID: "a", ClusterOK: true, Known: known}, redis.NodeStatus{ID: "b", ClusterOK: true, Known: known}
	if missing := whole([]redis.NodeStatus{a, b}, 0); missing != "" {
		t.Errorf("expected all slots to be served, and not that %s", missing)
	}
	if whole([]redis.NodeStatus{a}, 0) == "" {
		t.Error("expected slots of a server that does not run not to be served")
	}
	known[1].Failing = true
	if whole([]redis.NodeStatus{a, b}, 0) == "" {
		t.Error("expected slots of a server that is suspected not to be served")
	}
}
