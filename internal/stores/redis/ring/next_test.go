// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// situation is a cluster with the decision that is expected for it.
type situation struct {
	world *world
	do    func(*world)
	// step is the beginning of the expected step as text; "" if no step is expected.
	step string
	// refused is the guard that is expected to refuse a step. words must be part of its message.
	refused ring.Guard
	words   string
}

func expect(t *testing.T, situations map[string]situation) {
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			if s.do != nil {
				s.do(s.world)
			}
			step, why := ring.Next(s.world.view(), s.world.ring)
			got := ""
			if step != nil {
				got = step.String()
			}
			if s.step == "" && got != "" || !strings.HasPrefix(got, s.step) {
				t.Errorf("expected the step %q, got %q; refused: %v", s.step, got, why.Refusals)
			}
			if s.refused == "" && s.step == "" && !why.Done() {
				t.Errorf("expected nothing to be left to do, got %v", why.Refusals)
			}
			if s.refused != "" && !refusal(why, s.refused, s.words) {
				t.Errorf("expected %s to refuse with %q, got %v", s.refused, s.words, why.Refusals)
			}
		})
	}
}

func refusal(why ring.Why, guard ring.Guard, words string) bool {
	for _, r := range why.Refusals {
		if r.Guard == guard && strings.Contains(r.Message, words) {
			return true
		}
	}
	return false
}

func TestNothingIsDoneWhenAllIsWell(t *testing.T) {
	expect(t, map[string]situation{
		"three pods": {world: formed(3)},
		"two pods":   {world: formed(2)},
		"one pod":    {world: formed(1)},
		"ten pods":   {world: formed(10)},
	})
}

func TestNothingIsDoneOnAViewThatShowsTooLittle(t *testing.T) {
	expect(t, map[string]situation{
		"an old view": {world: fresh(3), do: func(w *world) { w.stale = true }, refused: ring.Unseen, words: "opcrew has just changed the cluster, and reads all servers again first"},
		"no pods":     {world: fresh(3), do: func(w *world) { w.ring.Nodes = 0 }, refused: ring.Unseen, words: "at least one pod"},
		"two processes with one id": {world: formed(3), do: func(w *world) { w.one("g1").ID = w.one("h0").ID },
			refused: ring.Twins, words: "the home server of pod 0 and the guest server of pod 1"},
	})
}

func TestAClusterIsMade(t *testing.T) {
	expect(t, map[string]situation{
		"fresh processes get numbers": {world: fresh(3), step: "give 6 new servers an epoch"},
		"and are introduced": {world: fresh(3), do: func(w *world) {
			for _, p := range w.procs {
				p.ConfigEpoch = 7
			}
		}, step: "introduce"},
		"and homes get slots once all know all": {world: fresh(3), do: func(w *world) { w.join("h0 g0 h1 g1 h2 g2") },
			step: "assign slots to 3 primaries"},
		"not before a process that left is forgotten": {world: fresh(3), do: func(w *world) {
			w.join("h0 g0 h1 g1 h2 g2")
			w.ghosts = []redis.Peer{{ID: "id-h3", Role: redis.Primary}}
		}, step: "forget id-h3"},
		"the rest of the slots after a crash": {world: fresh(3), do: func(w *world) {
			w.join("h0 g0 h1 g1 h2 g2")
			w.one("h0").Slots = even(0, 3)
			w.one("h0").Keys = 5
		}, step: "assign slots to 2 primaries"},
		"and guests follow them": {world: formed(3), do: func(w *world) {
			*w.one("g1") = process{address: w.one("g1").address, NodeStatus: redis.NodeStatus{ID: "id-g1", Role: redis.Primary}}
		}, step: "have 10.0.0.2:6380 replicate id-h0"},
		"it waits for all": {world: fresh(3), do: func(w *world) { w.kill("g2") },
			refused: ring.AllThere, words: "waiting for the guest server of pod 2"},
		"it waits for those without an address": {world: fresh(3), do: func(w *world) { w.ring.Pods = w.ring.Pods[:2] },
			refused: ring.AllThere, words: "the home server of pod 2, the guest server of pod 2"},
	})
}

func TestSlotsWithoutAnOwnerAreNotGivenOutInAClusterThatHadData(t *testing.T) {
	expect(t, map[string]situation{
		"a home without any, beside those with other shares": {world: formed(3), do: func(w *world) {
			w.one("h0").Slots = nil
			w.one("h1").Slots = redis.Slots{{First: 6000, Last: 10922}}
		}, refused: ring.Unowned, words: "0-5999"},
		"an id that is not there": {world: formed(3), do: func(w *world) {
			w.one("h0").Slots, w.one("h0").Keys = nil, 0
			w.ghosts = []redis.Peer{{ID: "lost", Role: redis.Primary}}
		}, refused: ring.Unowned, words: "0-5460"},
		"a home that holds keys": {world: formed(3), do: func(w *world) { w.one("h0").Slots = nil }, refused: ring.Unowned, words: "0-5460"},
		"a process that does not answer": {world: formed(3), do: func(w *world) {
			w.one("h0").Slots = nil
			w.kill("g2")
		}, refused: ring.Unowned, words: "waiting for the guest server of pod 2"},
	})
}

func TestProcessesThatMovedAreIntroduced(t *testing.T) {
	expect(t, map[string]situation{
		"one": {world: formed(3), do: func(w *world) { w.one("h1").elsewhere = "10.9.9.9:6379" },
			step: "introduce 10.0.0.2:6379 to 10.0.0."},
		"all": {world: formed(3), do: func(w *world) {
			for _, p := range w.procs {
				p.elsewhere = "10.9.9.9:1"
			}
		}, step: "introduce"},
		"a new one": {world: formed(3), do: func(w *world) { w.kill("h1"); w.promote("g2", "h1"); w.wipe("h1") },
			step: "introduce 10.0.0.2:6379 to"},
		"but no unrelated one that claims the same slots": {world: formed(3), do: func(w *world) {
			w.one("h1").alone = true
			w.one("h1").heard = redis.Slots{}
			w.one("h0").Slots = redis.Slots{{First: 0, Last: 10922}}
		}, refused: ring.Unrelated, words: "5461-10922"},
	})
}

func TestTheRestWaitsWhileSlotsAreMoved(t *testing.T) {
	expect(t, map[string]situation{
		"pods that leave": {world: formed(3), do: func(w *world) {
			w.add()
			w.join("h3 g3")
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, refused: ring.Moving, words: "4 of 10"},
		"but another desired number of pods ends it": {world: formed(3), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Slots: 10, Moved: 4}
		}, step: "stop moving slots"},
		"and so does one for another rate": {world: formed(3), do: func(w *world) {
			w.ring.Rate = 1000
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, step: "stop moving slots"},
		"and for a shard that lacks its replica, which may not wait for hours": {world: formed(3), do: func(w *world) {
			w.wipe("g0")
			w.join("g0")
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, step: "stop moving slots"},
		"and for a home that is to lead again": {world: formed(3), do: func(w *world) {
			w.promote("g1", "h0")
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, step: "stop moving slots"},
		"also where slots of it are open": {world: formed(3), do: func(w *world) {
			w.promote("g1", "h0")
			w.open(5, "g1", "h1")
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, step: "stop moving slots"},
		"and where an end is about to be stopped": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.ring.Pods[0].Yields = true
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4, Ends: []redis.End{{ID: "id-h0"}, {ID: "id-h1"}}}
		}, step: "stop moving slots"},
		"and where nothing is to be changed": {world: formed(3), do: func(w *world) {
			w.ring.Paused = true
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, step: "stop moving slots"},
		"but once only": {world: formed(3), do: func(w *world) {
			w.ring.Rate = 1000
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4, Stopping: true}
		}, refused: ring.Moving, words: "4 of 10 are done, and the move is about to stop"},
		"no slots are moved from a home that is about to hand over": {world: ringed(), do: func(w *world) { w.ring.Pods[0].Yields = true; w.one("h0").Offset += 2 << 20 },
			refused: ring.Moving, words: "one of them is about to be stopped"},
		"but not the rate that it has": {world: formed(3), do: func(w *world) {
			w.ring.Rate = 1000
			w.move = &redis.Progress{Goal: 3, BytesPerSecond: 1000, Slots: 10, Moved: 4}
		}, refused: ring.Moving, words: "4 of 10"},
		"a job that an earlier operator began is waited for": {world: formed(3), do: func(w *world) {
			w.promote("g1", "h0")
			w.one("h2").Jobs = []redis.Job{{Name: "a", To: "id-g1", Slots: redis.SlotsOf(16000), State: "streaming"}}
		}, refused: ring.Moving, words: "slots 16000 are moved by a job of the home server of pod 2 in state streaming"},
		"one that failed is reported, and not repeated at once": {world: ringed(), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Ended: true, Err: errors.New("no route to host"), EndedAt: w.at.Add(-time.Second)}
		}, refused: ring.Moving, words: "a move of slots failed and is retried after 2s: no route to host"},
		"nor is what it left open": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.move = &redis.Progress{Goal: 3, Ended: true, Err: errors.New("no route to host"), EndedAt: w.at.Add(-time.Second)}
		}, refused: ring.Moving, words: "a move of slots failed and is retried after 2s: no route to host"},
		"later, the more have failed": {world: ringed(), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Ended: true, Err: errors.New("no route to host"), Failures: 20, EndedAt: w.at.Add(-15 * time.Second)}
		}, refused: ring.Moving, words: "a move of slots failed and is retried after 16s: no route to host"},
		"but soon": {world: ringed(), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Ended: true, Err: errors.New("no route to host"), EndedAt: w.at.Add(-2 * time.Second)}
		}, step: "move 6553 slots"},
		"and at once after one that was stopped": {world: ringed(), do: func(w *world) {
			w.move = &redis.Progress{Goal: 4, Ended: true, Err: fmt.Errorf("move: %w", context.Canceled), EndedAt: w.at}
		}, step: "move 6553 slots"},
		"and one that has ended delays nothing": {world: formed(3), do: func(w *world) {
			w.move = &redis.Progress{Goal: 5, Slots: 10, Moved: 4, Ended: true, EndedAt: w.at.Add(-time.Second)}
		}},
	})
}
