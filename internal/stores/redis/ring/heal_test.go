// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

func TestALostPrimaryIsReplacedByAnElectionWhereThereCanBeOne(t *testing.T) {
	expect(t, map[string]situation{
		"two of three elect": {world: formed(3), do: func(w *world) { w.kill("h0") },
			refused: ring.Election, words: "the guest server of pod 1 is about to be elected by 2 of 3 primaries"},
		"also while the pod is gone": {world: formed(3), do: func(w *world) { w.gone(0) },
			refused: ring.Election, words: "by 2 of 3"},
		"one of three cannot, and a primary that may still run is not taken over": {world: formed(3), do: func(w *world) { w.kill("h0 h1") },
			refused: ring.Fenced, words: "1 of 3 primaries are too few"},
		"one of two neither": {world: formed(2), do: func(w *world) { w.kill("h0") }, refused: ring.Fenced, words: "1 of 2 primaries"},
		"but is once the pod is gone": {world: formed(2), do: func(w *world) { w.gone(0) },
			step: "have 10.0.0.2:6380 become primary"},
		"one gone and one silent: either may be it": {world: formed(3), do: func(w *world) { w.gone(0); w.kill("h1") },
			refused: ring.Fenced, words: "the home server of pod 1 may still run"},
		"no replica answers": {world: formed(3), do: func(w *world) { w.kill("h0 g1") },
			refused: ring.Lost, words: "waiting for the home server of pod 0, the guest server of pod 1"},
		"no replica is left": {world: formed(2), do: func(w *world) { w.gone(0); w.wipe("g1") },
			step: "introduce", refused: ""},
	})
}

// During a move, the keys of a slot reach the new primary and its replica before the slot itself. If the new primary is
// lost, its replica has the only copy of these keys.
func TestAReplicaLeadsThatHasKeysOnTheirWayToAPrimaryThatWentWithoutASlot(t *testing.T) {
	half := func() *world {
		w := ringed()
		w.open(5, "h0", "h3")
		w.one("h3").Keys = 10
		w.follow("g4", "h3")
		return w
	}
	expect(t, map[string]situation{
		"it runs": {world: half(), step: "move 1 slots"},
		"it is silent": {world: half(), do: func(w *world) { w.kill("h3") }, refused: ring.Fenced,
			words: "the guest server of pod 4 has 10 keys of slots that were being moved to its primary: waiting for the home server of pod 3"},
		"it may come back": {world: half(), do: func(w *world) { w.gone(3); w.ring.Pods[3].Returns = true }, refused: ring.Fenced,
			words: "pod 3 has no node, but its volume still exists"},
		"it is gone":             {world: half(), do: func(w *world) { w.gone(3) }, step: "have 10.0.0.5:6380 become primary"},
		"it has lost its folder": {world: half(), do: func(w *world) { w.wipe("h3"); w.join("h3") }, step: "have 10.0.0.5:6380 become primary"},
		"and is to leave": {world: half(), do: func(w *world) { w.wipe("h3"); w.join("h3"); w.ring.Nodes = 3 },
			step: "have 10.0.0.5:6380 become primary"},
		"its replica is gone too": {world: half(), do: func(w *world) { w.kill("h3 g4") }, refused: ring.Fenced,
			words: "slot 5 is being moved to id-h3: waiting for the home server of pod 3, the guest server of pod 4"},
		"another may have been elected by itself": {world: half(), do: func(w *world) {
			w.wipe("h3")
			w.join("h3")
			w.one("g3").Role, w.one("g3").PrimaryID, w.one("g3").Keys = redis.Primary, "", 3
			w.one("g3").Importing = map[int]string{5: "id-h0"}
		}, step: "move 1 slots"},
		"its replica is silent, and it is to leave": {world: half(), do: func(w *world) {
			w.wipe("h3")
			w.join("h3")
			w.kill("g4")
			w.follow("g3", "h3")
			w.ring.Nodes = 4
		}, step: "have 10.0.0.4:6380 replicate id-h2", refused: ring.Fenced, words: "slot 5 is being moved to id-h3: waiting for the guest server of pod 4"},
		"another shard is led by its guest, and its home is empty": {world: half(), do: func(w *world) {
			w.kill("h3 g3")
			w.promote("g1", "h0")
			w.one("g1").Migrating = map[int]string{5: "id-h3"}
			for _, name := range []string{"h0", "g0"} {
				w.wipe(name)
				w.join(name)
			}
			w.ring.Nodes, w.ring.Pods = 4, w.ring.Pods[:4]
		}, step: "have 10.0.0.1:6379 replicate id-g1", refused: ring.Fenced, words: "slot 5 is being moved to id-h3: waiting for the home server of pod 3"},
		"another has keys, and no slot is open to it": {world: half(), do: func(w *world) {
			w.wipe("h3")
			w.join("h3")
			w.one("g3").Role, w.one("g3").PrimaryID, w.one("g3").Keys = redis.Primary, "", 3
		}, step: "have 10.0.0.5:6380 become primary"},
		"none had been moved": {world: half(), do: func(w *world) { w.wipe("h3"); w.join("h3"); w.one("g4").Keys = 0 },
			step: "have 10.0.0.5:6380 replicate id-h3-new"},
		"then the slot is looked for there": {world: half(), do: func(w *world) {
			w.wipe("h3")
			w.join("h3")
			w.one("g4").Role, w.one("g4").PrimaryID = redis.Primary, ""
		}, step: "cancel the move of slots 5 at 10.0.0.1:6379"},
	})
}

func TestAHomeTakesTheLeadBackOnceItIsInSync(t *testing.T) {
	led := func() *world {
		w := formed(3)
		w.promote("g1", "h0")
		return w
	}
	expect(t, map[string]situation{
		"in sync":       {world: led(), step: "have 10.0.0.1:6379 become primary by agreement"},
		"not connected": {world: led(), do: func(w *world) { w.one("h0").LinkUp = false }, refused: ring.InSync, words: "has not copied all data"},
		"far behind": {world: led(), do: func(w *world) { w.one("g1").Offset += 3 << 20 },
			refused: ring.InSync, words: "3.0 MiB behind the guest server of pod 1, and the limit is 1.0 MiB"},
		"no majority to vote": {world: led(), do: func(w *world) { w.kill("h1 h2") }, refused: ring.Quorum, words: "1 of 3 primaries"},
		"slots are open": {world: led(), do: func(w *world) { w.one("g1").Migrating = map[int]string{1: "id-h1"}; w.kill("h1") },
			refused: ring.Moving, words: "some slots of the guest server of pod 1 are being moved"},
		"a new home follows first": {world: led(), do: func(w *world) { w.wipe("h0"); w.join("h0") },
			step: "have 10.0.0.1:6379 replicate id-g1"},
	})
}

// Regression test: Redis updates the address of a primary in the node table of its replica, but the replica may still
// connect to the old address.
func TestAReplicaConnectsToTheCurrentAddressOfItsPrimary(t *testing.T) {
	stale := func() *world {
		w := formed(3)
		w.one("g1").Source, w.one("g1").LinkUp = "10.0.9.9:6379", false
		return w
	}
	expect(t, map[string]situation{
		"it connects to the old one": {world: stale(), step: "have 10.0.0.2:6380 replicate id-h0"},
		"it does not know the current one yet": {world: stale(), do: func(w *world) { w.one("h0").elsewhere = "10.0.9.9:6379" },
			step: "introduce"},
		"it has just connected to the current one": {world: formed(3), do: func(w *world) { w.one("g1").LinkUp = false },
			refused: ring.InSync, words: "the guest server of pod 1 has not copied all data of the home server of pod 0"},
		"it has just started, and has no address yet": {world: stale(), do: func(w *world) { w.one("g1").Source = "" },
			refused: ring.InSync, words: "the guest server of pod 1 has not copied all data of the home server of pod 0"},
		"another server has the old one": {world: stale(), do: func(w *world) {
			w.one("g1").Source = "10.0.0.3:6379"
			w.one("h2").NotAdmitted = true
		}, step: "have 10.0.0.2:6380 replicate id-h0", refused: ring.Misled, words: "would copy the wrong server"},
	})
}

func TestAReplicaIsKeptWhereItIsNeeded(t *testing.T) {
	expect(t, map[string]situation{
		"the only one of a shard, as two follow another": {world: formed(3), do: func(w *world) { w.follow("g1", "h2"); w.one("g0").LinkUp = false },
			refused: ring.LastReplica, words: "the guest server of pod 1 is the only replica of the home server of pod 2"},
		"one of two may go": {world: formed(3), do: func(w *world) { w.follow("g1", "h2") },
			step: "have 10.0.0.2:6380 replicate id-h0"},
		"one whose primary is lost": {world: formed(3), do: func(w *world) { w.follow("g1", "h2"); w.kill("h2") },
			refused: ring.Election, words: "of a primary that does not answer"},
		"a primary without slots that holds keys": {world: formed(3), do: func(w *world) {
			w.wipe("g1")
			w.join("g1")
			w.one("g1").Keys, w.ghosts = 12, nil
		}, refused: ring.HoldsKeys, words: "12 keys"},
	})
}

func TestIDsAreForgottenOnceTheyAreReplaced(t *testing.T) {
	replaced := func() *world {
		w := formed(3)
		w.wipe("g1")
		w.follow("g1", "h0")
		return w
	}
	expect(t, map[string]situation{
		"all answer":                  {world: replaced(), step: "forget id-g1"},
		"one does not, and may be it": {world: replaced(), do: func(w *world) { w.kill("g2") }, refused: ring.Silent, words: "guest server of pod 2"},
		"one loads, and may be it":    {world: replaced(), do: func(w *world) { w.one("g2").Loading = true }, refused: ring.Silent, words: "is loading its data"},
		"not before its replica has another primary": {world: replaced(), do: func(w *world) {
			w.one("g0").PrimaryID = "id-lost"
			w.restart("g0")
		}, step: "have 10.0.0.1:6380 replicate id-h2"},
		"and not where that may have what another was about to get": {world: replaced(), do: func(w *world) { w.one("g0").PrimaryID = "id-lost" },
			refused: ring.Election, words: "keys of a primary that does not answer; if that primary is gone for good and no key is missing, delete pod 0"},
		"its replica may be elected": {world: replaced(), do: func(w *world) {
			w.one("g0").PrimaryID = "id-lost"
			w.ghosts = []redis.Peer{{ID: "id-lost", Role: redis.Primary, Slots: even(2, 3)}}
		}, refused: ring.Election, words: "keys of a primary that does not answer"},
		"slots are still said its own": {world: replaced(), do: func(w *world) { w.ghosts[0].Slots = even(0, 3) }, refused: ring.Agreement},
		"one that is being introduced is not dead": {world: formed(3), do: func(w *world) {
			w.ghosts = []redis.Peer{{ID: "random", Handshake: true}}
		}},
	})
}

func TestMovesThatWereLeftOpenAreFinished(t *testing.T) {
	expect(t, map[string]situation{
		"both ends are there": {world: formed(3), do: func(w *world) { w.open(5, "h0", "h1") }, step: "move 1 slots"},
		"only the importing end": {world: formed(3), do: func(w *world) { w.open(5, "h0", "h1"); w.one("h0").Migrating = nil },
			step: "move 1 slots"},
		"only the migrating end": {world: formed(3), do: func(w *world) { w.open(5, "h0", "h1"); w.one("h1").Importing = nil },
			step: "move 1 slots"},
		"the importing end owns it": {world: formed(3), do: func(w *world) { w.open(6000, "h0", "h1") },
			step: "cancel the move of slots 6000 at 10.0.0.1:6379"},
		"another took the place of the importing end": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.promote("g2", "h1")
			w.one("h1").Importing = nil
		}, step: "move 1 slots"},
		"no process has the ID of the importing end": {world: formed(3), do: func(w *world) { w.one("h0").Migrating = map[int]string{5: "id-past"} },
			step: "cancel the move of slots 5 at 10.0.0.1:6379"},
		"the importing end may come back": {world: formed(3), do: func(w *world) { w.open(5, "h0", "h1"); w.kill("h1") },
			refused: ring.Election, words: "slot 5 is being moved"},
		"another leads where it went, and knows nothing of it": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.kill("h1 g1")
			w.promote("g2", "h1")
		}, step: "cancel the move of slots 5 at 10.0.0.1:6379"},
		"and its volume may come back, while others have no slots yet": {world: ringed(), do: func(w *world) {
			w.one("h3").Slots, w.one("h0").Slots = redis.Slots{{First: 0, Last: 99}}, redis.Slots{{First: 100, Last: 5460}}
			w.open(500, "h0", "h3")
			w.gone(3)
			w.ring.Pods[3].Returns = true
			w.follow("g4", "h3")
			w.promote("g4", "h3")
		}, step: "cancel the move of slots 500 at 10.0.0.1:6379"},
		"the owner is lost": {world: formed(3), do: func(w *world) { w.open(5, "h0", "h1"); w.kill("h0") },
			refused: ring.Election, words: "none of the servers that answer owns it"},
		"a new owner knows nothing of it, and a move has just failed": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.promote("g1", "h0")
			w.one("h0").Migrating = nil
			w.failed()
		}, step: "mark 1 slots as moving again"},
		"the importing end lists no owner, and a move has just failed": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.one("h0").heard = redis.Slots{{First: 6, Last: 5460}}
			w.failed()
		}, step: "mark 1 slots as moving again"},
		"both ends know of it, and a move has just failed": {world: formed(3), do: func(w *world) {
			w.open(5, "h0", "h1")
			w.failed()
		}, refused: ring.Moving, words: "a move of slots failed and is retried"},
	})
}

func TestAHomeThatIsAboutToBeStoppedHandsOverAndDoesNotTakeTheLeadBack(t *testing.T) {
	yields := func(n int, do func(*world)) *world {
		w := formed(n)
		w.ring.Pods[n-1].Yields = true
		if do != nil {
			do(w)
		}
		return w
	}
	expect(t, map[string]situation{
		"its guest takes the lead":  {world: yields(3, nil), step: "have 10.0.0.1:6380 become primary by agreement"},
		"and keeps it":              {world: yields(3, func(w *world) { w.promote("g0", "h2") })},
		"one of two":                {world: yields(2, nil), step: "have 10.0.0.1:6380 become primary by agreement"},
		"one alone has no guest to": {world: yields(1, nil)},
		"not to one that is behind": {world: yields(3, func(w *world) { w.one("g0").LinkUp = false }),
			refused: ring.InSync, words: "the guest server of pod 0 has not copied all data of the home server of pod 2"},
		"others go home meanwhile": {world: yields(3, func(w *world) { w.promote("g1", "h0") }), step: "have 10.0.0.1:6379 become primary by agreement"},
	})
}

func TestAProcessIsCopiedOnlyByItsOwnReplicas(t *testing.T) {
	barred := func(w *world, names string) {
		for _, p := range w.p(names) {
			p.NotAdmitted = true
		}
	}
	expect(t, map[string]situation{
		"new ones before they have anything": {world: fresh(3), do: func(w *world) { w.join("h0 g0 h1 g1 h2 g2"); barred(w, "h0 g0 h1 g1 h2 g2") },
			step: "allow replicas to copy 10.0.0.1:6379, 10.0.0.1:6380, 10.0.0.2:6379, 10.0.0.2:6380, 10.0.0.3:6379, 10.0.0.3:6380"},
		"whatever else is wrong": {world: formed(3), do: func(w *world) { barred(w, "g1"); w.one("g2").elsewhere = "10.9.9.9:6380" },
			step: "allow replicas to copy 10.0.0.2:6380"},
		"one that has moved": {world: formed(3), do: func(w *world) { barred(w, "h1") }, step: "allow replicas to copy 10.0.0.2:6379"},
		"not while a replica of the previous process would copy it": {world: formed(3), do: func(w *world) {
			w.wipe("h0")
			w.join("h0")
			barred(w, "h0")
		}, refused: ring.Misled, words: "the guest server of pod 1 would copy the wrong server: the home server of pod 0 now has the address of the replica's primary id-h0"},
		"nor where another has taken the address": {world: formed(3), do: func(w *world) {
			w.kill("h0 g0")
			w.one("g1").Source = "10.0.0.3:6379"
			barred(w, "h2")
		}, refused: ring.Misled, words: "the guest server of pod 1 would copy the wrong server: the home server of pod 2"},
		"nor while a replica does not answer that copied that address before": {world: formed(3), do: func(w *world) {
			w.kill("h0 g0")
			w.one("g1").Source = "10.0.0.3:6379"
			w.cutOff("g1")
			barred(w, "h2")
		}, refused: ring.Misled, words: "the guest server of pod 1 would copy the wrong server: the home server of pod 2"},
		"unless its kubelet reports that it does not run": {world: formed(3), do: func(w *world) {
			w.one("g1").Source = "10.0.0.3:6379"
			w.cutOff("g1")
			w.ring.Pods[1].Ended = map[redis.Place]bool{redis.Guest: true}
			barred(w, "h2")
		}, step: "allow replicas to copy 10.0.0.3:6379"},
		"nor one that loads a full copy of an unknown primary": {world: formed(3), do: func(w *world) {
			*w.one("g1") = process{address: "10.0.0.2:6380", NodeStatus: redis.NodeStatus{RunID: "run-g1", Loading: true, Source: "10.0.0.3:6379"}}
			barred(w, "h2")
		}, refused: ring.Misled, words: "the guest server of pod 1 would copy the wrong server: the home server of pod 2"},
		"nor is one waited for that does not answer and copied its own primary": {world: formed(3), do: func(w *world) {
			w.cutOff("g1")
			barred(w, "h0 h2")
		}, step: "allow replicas to copy 10.0.0.1:6379, 10.0.0.3:6379"},
		"and no replica waits for an election that never comes": {world: formed(3), do: func(w *world) {
			w.wipe("h0")
			w.join("h0")
			barred(w, "h0")
			w.one("g1").LinkUp = false
			w.ghosts[0].Address, w.ghosts[0].Failed = "", false
		}, step: "have 10.0.0.2:6380 be elected"},
	})
}
