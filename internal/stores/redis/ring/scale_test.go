// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// grown returns a cluster of three pods that grows to five. Its servers already know the new servers.
func grown() *world {
	w := formed(3)
	w.add()
	w.add()
	w.join("h3 g3 h4 g4")
	w.ring.Nodes = 5
	return w
}

// ringed is like grown, and all replicas follow their desired primaries.
func ringed() *world {
	w := grown()
	w.follow("g3", "h2")
	w.follow("g4", "h3")
	w.follow("g0", "h4")
	return w
}

// shrunk returns a cluster of five pods that shrinks to three.
func shrunk() *world {
	w := formed(5)
	w.ring.Nodes = 3
	return w
}

// drained is like shrunk, and the surplus pods have lost their slots.
func drained() *world {
	w := shrunk()
	for i, name := range []string{"h0", "h1", "h2"} {
		w.one(name).Slots = even(i, 3)
	}
	for _, p := range w.p("h3 h4 g4 g0") {
		p.Slots, p.Keys = nil, 0
	}
	return w
}

func TestPodsThatAreAddedGetReplicasAndThenSlots(t *testing.T) {
	expect(t, map[string]situation{
		"the new guest of an old shard first": {world: grown(), step: "have 10.0.0.4:6380 replicate id-h2"},
		"the old one stays until it is in sync": {world: grown(), do: func(w *world) {
			w.follow("g3", "h2")
			w.follow("g4", "h3")
			w.one("g3").LinkUp = false
		}, refused: ring.LastReplica, words: "the guest server of pod 0 is the only replica of the home server of pod 2"},
		"and then goes": {world: grown(), do: func(w *world) { w.follow("g3", "h2"); w.follow("g4", "h3") },
			step: "have 10.0.0.1:6380 replicate id-h4"},
		"one that left before first": {world: grown(), do: func(w *world) { w.one("h4").alone, w.one("h4").CurrentEpoch = true, 7 },
			step: "have 10.0.0.5:6379 get a new ID"},
		"slots come last": {world: ringed(), step: "move 6553 slots"},
		"no shard gets any before it has a replica": {world: ringed(), do: func(w *world) { w.one("g0").LinkUp = false },
			refused: ring.InSync, words: "until that server has a replica in sync"},
		"not while a process disagrees about owners": {world: ringed(), do: func(w *world) { w.one("h1").heard = even(0, 3) },
			refused: ring.Agreement, words: "the home server of pod 1 owns"},
		"not without the memory": {world: ringed(), do: func(w *world) {
			w.one("h3").MaxMemory = gib / 4
			w.one("h3").UsedMemory = gib / 8
		}, refused: ring.Memory, words: "the home server of pod 3 would receive about 122.9 MiB of data but has room for 102.4 MiB (90% of 256.0 MiB, minus 128.0 MiB in use)"},
	})
}

func TestServersMoveSlotsByThemselvesWhereAllOfThemCan(t *testing.T) {
	valkey := func(w *world, number string) *world {
		for _, p := range w.procs {
			p.Version = redis.Version{Number: number, Valkey: true}
		}
		return w
	}
	for name, test := range map[string]struct {
		world  *world
		do     func(*world)
		byJobs bool
	}{
		"all are new":      {world: valkey(ringed(), "9.1.2"), byJobs: true},
		"all are old":      {world: valkey(ringed(), "8.1.4")},
		"a replica is old": {world: valkey(ringed(), "9.1.2"), do: func(w *world) { w.one("g2").Version.Number = "8.1.4" }},
		"they know of no jobs after all": {world: valkey(ringed(), "9.1.2"), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Ended: true, Err: fmt.Errorf("%w: unknown subcommand", redis.ErrNoJobs), Failures: 1}
		}},
		"three moves failed in a row": {world: valkey(ringed(), "9.1.2"), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Ended: true, Err: errors.New("no route to host"), Failures: 3}
		}},
		"the last move failed": {world: valkey(ringed(), "9.1.2"), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Ended: true, Err: errors.New("no route to host"), Failures: 1}
		}, byJobs: true},
		"slots were left open": {world: valkey(formed(3), "9.1.2"), do: func(w *world) { w.open(5, "h0", "h1") }},
	} {
		t.Run(name, func(t *testing.T) {
			if test.do != nil {
				test.do(test.world)
			}
			test.world.ring.Rate = 5000
			step, why := ring.Next(test.world.view(), test.world.ring)
			move, is := step.(redis.MoveSlots)
			if move.BytesPerSecond != 5000 {
				t.Errorf("expected the rate that is wanted, got %d", move.BytesPerSecond)
			}
			if !is || move.ByJobs != test.byJobs {
				t.Errorf("expected a move by jobs: %t, got %v; refused: %v", test.byJobs, step, why.Refusals)
			}
		})
	}
}

func TestPodsThatLeaveAreEmptiedAndTakenOut(t *testing.T) {
	expect(t, map[string]situation{
		"their slots go first":                                   {world: shrunk(), step: "move 6554 slots"},
		"also where they are to be changed":                      {world: shrunk(), do: func(w *world) { w.ring.Pods[4].Yields = true }, step: "move 6554 slots"},
		"or one that stays, whose guest follows one that leaves": {world: shrunk(), do: func(w *world) { w.ring.Pods[2].Yields = true }, step: "move 6554 slots"},
		"not without the memory": {world: shrunk(), do: func(w *world) {
			for _, p := range w.p("h0 h1 h2") {
				p.MaxMemory = gib / 3
			}
		}, refused: ring.Memory, words: "has room for"},
		"a full cache has room": {world: shrunk(), do: func(w *world) {
			for _, p := range w.p("h0 h1 h2 h3 h4") {
				p.MaxMemory, p.UsedMemory, p.Evicts = gib, gib, true
			}
		}, step: "move 6554 slots"},
		"not where one of those that stay evicts no key": {world: shrunk(), do: func(w *world) {
			for _, p := range w.p("h0 h1 h2") {
				p.MaxMemory, p.UsedMemory, p.Evicts = gib, gib, p != w.one("h1")
			}
		}, refused: ring.Memory, words: "the home server of pod 1 would receive"},
		"not while one that stays has no primary": {world: shrunk(), do: func(w *world) { w.kill("h0 g1") },
			refused: ring.Silent, words: "keeps its slots"},
		"then replicas of those that stay are set free": {world: drained(), step: "have 10.0.0.1:6380 replicate id-h2"},
		"and follow an emptied home": {world: drained(), do: func(w *world) { w.follow("g0", "h2") },
			step: "have 10.0.0.4:6380 replicate id-h3"},
		"but redirect clients for a while": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			w.move = &redis.Progress{Goal: 3, Ended: true, EndedAt: w.at.Add(-time.Second)}
		}, refused: ring.Moving, words: "redirects clients"},
		"for as long as some come": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			w.move = &redis.Progress{Goal: 3, Ended: true, EndedAt: w.at.Add(-14 * time.Second)}
			w.one("g4").Redirected = w.at.Add(-time.Second)
		}, refused: ring.Moving, words: "the guest server of pod 4 redirects clients"},
		"and no longer": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			w.move = &redis.Progress{Goal: 3, Ended: true, EndedAt: w.at.Add(-14 * time.Second)}
			w.one("g4").Redirected = w.at.Add(-2 * time.Second)
		}, step: "have 10.0.0.4:6380 replicate id-h3"},
		"nor for clients that never learn": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			w.move = &redis.Progress{Goal: 3, Ended: true, EndedAt: w.at.Add(-15 * time.Second)}
			w.one("g4").Redirected = w.at
		}, step: "have 10.0.0.4:6380 replicate id-h3"},
		"the emptied replica is reset": {world: drained(), do: func(w *world) { w.follow("g0", "h2"); w.follow("g3", "h3") },
			step: "remove 10.0.0.4:6380 from the cluster"},
		"not before it is empty": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			w.follow("g3", "h3")
			w.one("g3").Keys = 3
			w.one("g4").Keys = 3
		}, refused: ring.HoldsKeys, words: "has yet to drop"},
		"then the homes": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			*w.one("g3") = process{address: w.one("g3").address, alone: true, NodeStatus: redis.NodeStatus{ID: "id-g3", Role: redis.Primary}}
			*w.one("g4") = process{address: w.one("g4").address, alone: true, NodeStatus: redis.NodeStatus{ID: "id-g4", Role: redis.Primary}}
		}, step: "remove 10.0.0.4:6379 from the cluster"},
		"not one that holds keys": {world: drained(), do: func(w *world) {
			w.follow("g0", "h2")
			w.one("h3").Keys = 7
			w.one("h4").Keys = 7
		}, refused: ring.HoldsKeys, words: "7 keys"},
		"a silent one is not given up": {world: drained(), do: func(w *world) { w.follow("g0", "h2"); w.kill("h3 g3 h4 g4") },
			refused: ring.Silent, words: "opcrew does not know which data it has"},
		"what was taken out is forgotten": {world: formed(3), do: func(w *world) {
			w.add()
			w.ghosts = []redis.Peer{{ID: "id-h3", Role: redis.Primary}}
		}, step: "forget id-h3"},
	})
}

func TestAPodHasLeftOnceNoProcessKnowsIt(t *testing.T) {
	w := formed(3)
	w.add()
	if !ring.Left(w.view(), w.ring, 3) {
		t.Error("expected a pod that no process knows to have left")
	}
	w.kill("h3 g3")
	if !ring.Left(w.view(), w.ring, 3) {
		t.Error("expected a pod that has not started, and that no process knows, to have left")
	}
	w.ghosts = []redis.Peer{{ID: "id-h3", Role: redis.Primary}}
	if ring.Left(w.view(), w.ring, 3) {
		t.Error("expected a pod that others still list not to have left")
	}
	if w := formed(4); true {
		w.ring.Nodes = 3
		w.kill("h3 g3")
		if ring.Left(w.view(), w.ring, 3) {
			t.Error("expected a pod that does not answer and has slots not to have left")
		}
	}
	if w := ringed(); true {
		w.ring.Nodes = 3
		w.open(5, "h0", "h3")
		w.gone(3)
		if !ring.Left(w.view(), w.ring, 3) {
			t.Error("expected a pod that is gone with what it had to have left")
		}
		w.ring.Pods[3].Returns = true
		if ring.Left(w.view(), w.ring, 3) {
			t.Error("expected a pod whose volume may have keys of open slots not to have left")
		}
		w.one("g1").Migrating, w.one("h0").Migrating = w.one("h0").Migrating, nil
		if !ring.Left(w.view(), w.ring, 3) {
			t.Error("expected what a replica has not heard of a slot that is closed not to keep a pod")
		}
	}
	if w := drained(); ring.Left(w.view(), w.ring, 3) {
		t.Error("expected a pod in the cluster not to have left")
	}
	if ring.Left(w.view(), w.ring, 2) {
		t.Error("expected a pod of the ring not to leave")
	}
}
