// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoOwners is a node table in which a:1 and c:1 own half of the slots each.
const twoOwners = "a:1 10.0.0.1:1@2 master - 0 0 1 connected 0-8191\nc:1 10.0.0.3:1@2 master - 0 0 3 connected 8192-16383\n" +
	"b:1 10.0.0.2:1@2 myself,master - 0 0 2 connected\n"

// places returns the positions of the first and the last command that contains all given words.
func places(commands []string, words ...string) (first, last int) {
	first, last = -1, -1
	for i, line := range commands {
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	return first, last
}

func TestThousandsOfEmptySlotsGoTogether(t *testing.T) {
	const most = 60
	store := &scripted{}
	got := moved(t, store, plan(numbers(0, 4000)...), time.Minute)
	if !got.Ended || got.Err != nil || got.Moved != 4000 {
		t.Fatalf("expected all slots to be moved, got %+v", got)
	}
	if store.calls > most {
		t.Errorf("expected up to %d round trips for 4000 empty slots, there were %d", most, store.calls)
	}
	_, opened := places(store.got, "b:1", "IMPORTING")
	migrating, lastMigrating := places(store.got, "a:1", "MIGRATING")
	given, _ := places(store.got, "b:1", "NODE")
	left, _ := places(store.got, "a:1", "NODE")
	if opened >= migrating || lastMigrating >= given || given >= left {
		t.Errorf("expected slots to be open at both ends before one is given away, and the receiving end to get the command first: %d, %d to %d, %d, %d", opened, migrating, lastMigrating, given, left)
	}
}

// Some servers answer SETSLOT only after their replicas have executed it. Until then, they read no other command from
// the same connection. So the commands for these servers are spread over several connections.
func TestCommandsAreSpreadWhereServersWaitForTheirReplicas(t *testing.T) {
	const connections, ack = 32, 5 * time.Millisecond
	for name, test := range map[string]struct {
		spread bool
		within time.Duration
		done   bool
	}{
		"over many connections": {spread: true, within: 4 * 1024 / connections * ack * 3 / 2, done: true},
		"over one":              {within: 4 * 1024 / connections * ack * 3 / 2},
	} {
		t.Run(name, func(t *testing.T) {
			step := plan(numbers(0, 1024)...)
			step.Spread = test.spread
			if got := moved(t, &scripted{setting: ack}, step, test.within); (got.Moved == 1024) != test.done {
				t.Errorf("expected 1024 slots to be moved within %s: %t, %d are", test.within, test.done, got.Moved)
			}
		})
	}
}

func TestPairsOfServersThatHaveNoneInCommonMoveSlotsAtTheSameTime(t *testing.T) {
	store := &scripted{setting: time.Millisecond, nodes: twoOwners}
	step := plan()
	step.Moves = []Move{between("a", "b", numbers(0, 100)...), between("a", "d", numbers(100, 100)...), between("c", "d", numbers(9000, 100)...)}
	if got := moved(t, store, step, time.Minute); got.Moved != 300 || len(got.Ends) > 0 {
		t.Fatalf("expected all slots to be moved, and none to be on their way, got %+v", got)
	}
	_, first := places(store.got, "a:1", "NODE b:1")
	second, _ := places(store.got, "d:1", "IMPORTING a:1")
	third, thirdEnd := places(store.got, "d:1", "IMPORTING c:1")
	if third > first {
		t.Errorf("expected c and d to begin before a and b are done: %d, %d", third, first)
	}
	if second < first || second < thirdEnd {
		t.Errorf("expected a and d to wait for the moves of either: %d, %d, %d", second, first, thirdEnd)
	}
	// If slots changed their owner at two destinations at the same time, each destination would raise its epoch above
	// the other's, and sync its disk each time.
	toB, lastB := places(store.got, "NODE b:1")
	toD, lastD := places(store.got, "SETSLOT 9", "NODE d:1")
	if toD < lastB && toB < lastD {
		t.Errorf("expected slots of one destination at a time to change hands: %d to %d, %d to %d", toB, lastB, toD, lastD)
	}
}

func TestAPairThatFailsStopsTheOthersWithoutLeavingSlotsOpen(t *testing.T) {
	store := &scripted{setting: time.Millisecond, nodes: twoOwners, fails: "SETSLOT 9000 MIGRATING", keys: oneEach(numbers(0, 5000))}
	step := plan()
	step.Moves, step.Bytes = []Move{between("a", "b", numbers(0, 5000)...), between("c", "d", 9000)}, 1<<30
	got := moved(t, store, step, time.Minute)
	if !got.Failed() || !strings.Contains(got.Err.Error(), "from c:1 to d:1: connection reset by peer") {
		t.Errorf("expected the move to end with what failed, got %+v", got)
	}
	if got.Moved == 0 || got.Moved == 5000 {
		t.Errorf("expected the other pair to end what it had begun and no more, it moved %d slots", got.Moved)
	}
	opened, closed := 0, 0
	for _, line := range store.got {
		switch {
		case strings.HasPrefix(line, "b:1") && strings.Contains(line, "IMPORTING"):
			opened++
		case strings.HasPrefix(line, "a:1") && strings.Contains(line, "NODE"):
			closed++
		}
	}
	if opened != closed {
		t.Errorf("expected no slot of the other pair to be left open: %d were opened, and %d closed", opened, closed)
	}
}

func TestPairsGoOneByOneWhereThereIsARate(t *testing.T) {
	store := &scripted{keys: oneEach([]int{1, 9000}), nodes: twoOwners}
	step := plan()
	step.Moves = []Move{between("a", "b", 1), between("c", "d", 9000)}
	step.Bytes, step.BytesPerSecond = 2000, 1000 // at this rate, each key takes a second
	if got := moved(t, store, step, 900*time.Millisecond); got.Moved != 0 || len(got.Ends) != 2 {
		t.Errorf("expected one pair to be under way, got %+v", got)
	}
}

func TestAStoppedMoveOfPairsIsNoFailure(t *testing.T) {
	store := &scripted{setting: 10 * time.Millisecond, nodes: twoOwners, keys: oneEach(numbers(0, 16384))}
	probing(t, store, func(p *Prober) {
		step := plan()
		step.Moves, step.Bytes = []Move{between("a", "b", numbers(0, 100)...), between("c", "d", numbers(9000, 100)...)}, 10<<30
		if err := p.Take(t.Context(), shop, step); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		if err := p.Take(t.Context(), shop, StopMove{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if view, _ := p.View(shop); view.Moving() || view.Move.Failed() || !errors.Is(view.Move.Err, context.Canceled) {
			t.Errorf("expected the move to have been stopped, got %+v", view.Move)
		}
	})
}
