// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// restarted returns a cluster of n pods in which all servers were restarted, and the primary of pod 0 lost its data.
func restarted(n int) *world {
	w := formed(n)
	w.restart("g1")
	w.wipe("h0")
	w.join("h0")
	return w
}

// restart restarts replicas that then cannot connect to their primaries.
func (w *world) restart(names string) {
	for _, p := range w.p(names) {
		p.LinkUp, p.Unlinked = false, p.Role == redis.Replica
	}
}

// wiped returns a cluster of three pods in which both copies of the first shard are lost. The user has given up the
// data of the slots in forsaken.
func wiped(forsaken redis.Slots) *world { return wipedOf(3, forsaken) }

func wipedOf(n int, forsaken redis.Slots) *world {
	w := formed(n)
	for _, name := range []string{"h0", "g1"} {
		w.wipe(name)
		w.join(name)
	}
	w.follow("g1", "h0")
	w.ring.GivenUp = forsaken
	return w
}

func TestAReplicaThatWasRestartedLeadsOnceNoProcessCanHaveMore(t *testing.T) {
	expect(t, map[string]situation{
		"it is elected by order, as it would not ask by itself": {world: restarted(3), step: "have 10.0.0.2:6380 be elected"},
		"not while its primary may still run": {world: formed(3), do: func(w *world) { w.restart("g1"); w.kill("h0") },
			refused: ring.Fenced, words: "the guest server of pod 1 has a copy but may lack the last writes, and cannot become primary until the home server of pod 0 answers or is certainly gone"},
		"nor while another may run, which may be it": {world: restarted(3), do: func(w *world) { w.kill("g2") }, refused: ring.Fenced, words: "the guest server of pod 2"},
		"but when the pod is gone":                   {world: formed(3), do: func(w *world) { w.restart("g1"); w.gone(0) }, step: "have 10.0.0.2:6380 be elected"},
		"not while its volume is there, which has more": {world: formed(3), do: func(w *world) { w.restart("g1"); w.gone(0); w.ring.Pods[0].Returns = true },
			refused: ring.Fenced, words: "the guest server of pod 0 answers or is certainly gone; pod 0 has no node, but its volume still exists: if the volume is lost for good, delete its claim"},
		"nor take over": {world: formed(2), do: func(w *world) { w.restart("g1"); w.gone(0); w.ring.Pods[0].Returns = true },
			refused: ring.Fenced, words: "cannot take over while the home server of pod 0"},
		"one that was connected all the time may": {world: formed(2), do: func(w *world) { w.gone(0); w.ring.Pods[0].Returns = true },
			step: "have 10.0.0.2:6380 become primary without votes"},
		"one that saw its primary asks by itself": {world: formed(3), do: func(w *world) { w.wipe("h0"); w.join("h0") },
			refused: ring.Election, words: "is about to be elected"},
		"one that saw its primary goes before one that did not": {world: formed(3), do: func(w *world) { w.follow("g2", "h0"); w.restart("g1"); w.wipe("h0"); w.join("h0") },
			refused: ring.Election, words: "the guest server of pod 2 is about to be elected"},
		"where too few are left to vote it takes over": {world: formed(2), do: func(w *world) { w.restart("g1"); w.gone(0) }, step: "have 10.0.0.2:6380 become primary without votes"},
		"one that is empty may never have had anything": {world: restarted(3), do: func(w *world) { w.one("g1").Keys = 0 },
			refused: ring.Lost, words: "slots 0-5460 are lost"},
		"nor does it take over": {world: formed(2), do: func(w *world) { w.restart("g1"); w.one("g1").Keys = 0; w.gone(0) },
			refused: ring.Lost, words: "slots 0-8191 are lost"},
	})
}

func TestSlotsThatAreLostAreGivenUpOnlyWhereTheUserSaysSo(t *testing.T) {
	all, first := redis.Slots{{First: 0, Last: redis.SlotCount - 1}}, even(0, 3)
	forgotten := func(forsaken redis.Slots) *world {
		w := wiped(forsaken)
		w.ghosts = nil
		return w
	}
	expect(t, map[string]situation{
		"the user does not say so":            {world: wiped(nil), refused: ring.Lost, words: "slots 0-5460 are lost"},
		"some of them are not":                {world: wiped(redis.Slots{{First: 0, Last: 5459}}), refused: ring.Lost, words: "slots 0-5460 are lost"},
		"others are":                          {world: wiped(even(1, 3)), refused: ring.Lost, words: "slots 0-5460 are lost"},
		"their primary goes then":             {world: wiped(first), step: "forget id-h0"},
		"and nothing else that is said to be": {world: formed(3), do: func(w *world) { w.ring.GivenUp = all }},
		"not while a process may run that has them": {world: wiped(first), do: func(w *world) { w.kill("g2") },
			refused: ring.Lost, words: "waiting for the guest server of pod 2"},
		"nor while a process may come back that has them": {world: wiped(first), do: func(w *world) { w.promote("g0", "h2"); w.gone(2); w.ring.Pods[2].Returns = true },
			refused: ring.Lost, words: "waiting for the home server of pod 2"},
		"but while one is gone for certain": {world: wiped(first), do: func(w *world) { w.promote("g0", "h2"); w.gone(2); w.ring.GivenUp = all },
			step: "forget id-h0"},
		"not while there is a copy": {world: restarted(3), do: func(w *world) { w.ring.GivenUp = all }, step: "have 10.0.0.2:6380 be elected"},
		"nor while another shard elects": {world: wipedOf(5, all), do: func(w *world) { w.wipe("h2"); w.join("h2") },
			refused: ring.Election, words: "slots 0-3276 are given up once the guest server of pod 3 has become a primary"},
		"an empty replica of it gets another primary first": {world: wiped(first), do: func(w *world) {
			w.one("g1").PrimaryID, w.one("g1").Keys = "id-h0", 0
			w.restart("g1")
		}, step: "have 10.0.0.2:6380 replicate id-h0-new"},
		"and keeps it where nothing is given up": {world: wiped(nil), do: func(w *world) {
			w.one("g1").PrimaryID, w.one("g1").Keys = "id-h0", 0
			w.restart("g1")
		}, refused: ring.Election, words: "the guest server of pod 1 has a copy of slots 0-5460"},
		"then they are given out again": {world: forgotten(first), step: "assign slots to 1 primaries"},
		"those that were given up, and no others": {world: forgotten(even(1, 3)), do: func(w *world) { w.one("h1").Slots = redis.Slots{{First: 5461, Last: 9999}} },
			step: "assign slots to 1 primaries"},
		"not while a process may run that claims them": {world: forgotten(first), do: func(w *world) { w.kill("g2") },
			refused: ring.Unowned, words: "waiting for the guest server of pod 2"},
		"nor while their shard has no leader": {world: forgotten(first), do: func(w *world) { w.one("h0").Keys = 3; w.follow("g1", "h1"); w.follow("g1", "h2") },
			refused: ring.Unowned, words: "wait for a primary of their shard"},
	})
}

func TestGivenUpSlotsGoToTheShardsThatTheyAreOf(t *testing.T) {
	w := wiped(redis.Slots{{First: 0, Last: redis.SlotCount - 1}})
	w.ghosts = nil
	w.one("h2").Slots = redis.Slots{{First: 12000, Last: 16383}}
	step, _ := ring.Next(w.view(), w.ring)
	got, _ := step.(redis.AssignSlots)
	if !got.Outrank {
		t.Errorf("expected the new owners to outrank the previous ones, got %+v", step)
	}
	if len(got.Slots) != 2 || got.Slots["10.0.0.1:6379"].String() != "0-5460" || got.Slots["10.0.0.3:6379"].String() != "10923-11999" {
		t.Errorf("expected the empty primary and the one that lacks some of its slots to get them, got %v", step)
	}
}

func TestMissingSlotsAreReportedWithTheProcessesThatMayHaveThem(t *testing.T) {
	for name, test := range map[string]struct {
		world        *world
		do           func(*world)
		slots, waits string
	}{
		"all is there":            {world: formed(3)},
		"both copies":             {world: wiped(nil), slots: "0-5460"},
		"no process claims them":  {world: wiped(nil), do: func(w *world) { w.ghosts = nil }, slots: "0-5460"},
		"a cluster that begins":   {world: fresh(3)},
		"and has been introduced": {world: fresh(3), do: func(w *world) { w.join("h0 g0 h1 g1 h2 g2") }},
		"from which one has gone again": {world: fresh(3), do: func(w *world) {
			w.join("h0 g0 h1 g1 h2 g2")
			w.ghosts = []redis.Peer{{ID: "id-h3", Role: redis.Primary}}
		}},
		"while others may have all of it": {world: fresh(2), do: func(w *world) { w.kill("g1") }, slots: "0-16383", waits: "the guest server of pod 1"},
		"a copy is there":                 {world: restarted(3)},
		"a process may come back with it": {world: wiped(nil), do: func(w *world) { w.promote("g0", "h2"); w.gone(2); w.ring.Pods[2].Returns = true },
			slots: "0-5460", waits: "the home server of pod 2, the guest server of pod 2"},
		"a process may have it": {world: wiped(nil), do: func(w *world) { w.kill("g2") }, slots: "0-5460", waits: "the guest server of pod 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.do != nil {
				test.do(test.world)
			}
			if loss := ring.Missing(test.world.view(), test.world.ring); loss.Slots.String() != test.slots || loss.Waits != test.waits {
				t.Errorf("expected slots %q and to wait for %q, got %q and %q", test.slots, test.waits, loss.Slots, loss.Waits)
			}
		})
	}
}

func TestASlotThatChangesHandsDuringALookIsNeitherLostNorUnserved(t *testing.T) {
	w := formed(3)
	w.one("h0").Slots = redis.Slots{{First: 0, Last: 5459}}
	view := w.view()
	if got := ring.Unserved(view, w.ring); got.String() != "5460" {
		t.Fatalf("expected one without an owner to be unserved, got %s", got)
	}
	view.Passing = redis.Slots{{First: 5460, Last: 5460}}
	if unserved, loss := ring.Unserved(view, w.ring), ring.Missing(view, w.ring); len(unserved) > 0 || len(loss.Slots) > 0 {
		t.Errorf("expected it to be taken for being on its way, got %s unserved and %s lost", unserved, loss.Slots)
	}
	if step, why := ring.Next(view, w.ring); step != nil || !why.Done() {
		t.Errorf("expected nothing to be done or waited for, got %v, %+v", step, why)
	}
}

func TestOnlySlotsOfAProcessThatHoldsTheClusterToBeDownAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*world)
		want string
	}{
		"all is well":              {func(*world) {}, ""},
		"a replica":                {func(w *world) { w.one("g1").ClusterOK = false }, ""},
		"a primary":                {func(w *world) { w.one("h0").ClusterOK = false }, "0-5460"},
		"one that does not answer": {func(w *world) { w.one("h0").ClusterOK = false; w.kill("h0") }, ""},
		"one whose replica leads too": {func(w *world) {
			w.one("h0").ClusterOK = false
			w.one("g1").Role, w.one("g1").Slots = redis.Primary, w.one("h0").Slots
		}, ""},
	} {
		w := formed(3)
		test.do(w)
		view := w.view()
		if got := ring.Refused(view, w.ring).String(); got != test.want {
			t.Errorf("%s: expected slots %q to be refused to clients, got %q", name, test.want, got)
		}
		if loss := ring.Missing(view, w.ring); name != "one that does not answer" && len(loss.Slots)+len(ring.Unserved(view, w.ring)) > 0 {
			t.Errorf("%s: expected no slots to be lost or without an owner, got %v", name, loss)
		}
	}
}

func TestSlotsWhoseOwnerAPrimaryDoesNotKnowAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		do        func(*world)
		slots, by string
	}{
		"all know all":                     {do: func(*world) {}},
		"a process has forgotten an owner": {func(w *world) { w.one("h2").alone = true }, "10923-16383", "the home server of pod 0"},
		"while slots are moved": {func(w *world) {
			w.one("h2").alone = true
			w.move = &redis.Progress{Goal: 3, Slots: 10, Moved: 4}
		}, "", ""},
		"a replica knows no other":                   {func(w *world) { w.one("g2").alone = true }, "", ""},
		"they are listed under their previous owner": {func(w *world) { w.promote("g1", "h0"); w.one("g1").heard = even(2, 3) }, "0-5460", "the home server of pod 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := formed(3)
			test.do(w)
			if slots, by := ring.OwnerUnknown(w.view(), w.ring); slots.String() != test.slots || by != test.by {
				t.Errorf("expected slots %q of which %q has not heard, got %q and %q", test.slots, test.by, slots, by)
			}
		})
	}
}
