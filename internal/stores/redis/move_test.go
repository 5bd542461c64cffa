// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestASlotIsClosedAtTheEndThatGetsItFirst(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k1", "k2"}}}
	probing(t, store, func(p *Prober) {
		if err := p.Take(t.Context(), shop, plan(5)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		view, _ := p.View(shop)
		if view.Move == nil || !view.Move.Ended || view.Move.Err != nil || view.Move.Moved != 1 || view.Move.Keys != 2 || view.Move.Bytes != 2000 {
			t.Errorf("expected one slot of 2 keys to have been moved, got %+v", view.Move)
		}
	})
	want := []string{
		"b:1 CLUSTER SETSLOT 5 IMPORTING a:1", "a:1 CLUSTER SETSLOT 5 MIGRATING b:1",
		"a:1 MIGRATE b 1  0 5000 REPLACE AUTH2 u p KEYS k1 k2",
		"b:1 CLUSTER SETSLOT 5 NODE b:1", "a:1 CLUSTER SETSLOT 5 NODE b:1",
	}
	if !slices.Equal(store.got, want) {
		t.Errorf("expected\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(store.got, "\n"))
	}
}

func TestAMoveThatFailsEndsAndSaysWhy(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k"}}, fails: "MIGRATE"}
	probing(t, store, func(p *Prober) {
		if err := p.Take(t.Context(), shop, plan(5)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		view, _ := p.View(shop)
		if view.Move == nil || !view.Move.Ended || view.Move.Err == nil || view.Moving() {
			t.Errorf("expected the move to have failed, got %+v", view.Move)
		}
	})
	for _, line := range store.got {
		if strings.Contains(line, "NODE") {
			t.Errorf("expected no slot to be given away with its keys left behind, got %s", line)
		}
	}
}

func TestAMoveKeepsToItsRateAndIsStopped(t *testing.T) {
	store := &scripted{keys: map[int][]any{}}
	var slots []int
	for slot := range 320 {
		slots = append(slots, slot)
		store.keys[slot] = []any{fmt.Sprint(slot)}
	}
	probing(t, store, func(p *Prober) {
		step := plan(slots...)
		step.Bytes, step.BytesPerSecond = 320_000, 32_000 // each batch of 32 slots takes a second
		if err := p.Take(t.Context(), shop, step); err != nil {
			t.Fatal(err)
		}
		if err := p.Take(t.Context(), shop, step); !errors.Is(err, ErrMoving) {
			t.Errorf("expected one move at a time, got %v", err)
		}
		time.Sleep(5*time.Second + 300*time.Millisecond)
		view, _ := p.View(shop)
		if view.Move.Moved != 160 || !view.Moving() {
			t.Errorf("expected 5 of 10 batches after 5 seconds, got %+v", view.Move)
		}
		if err := p.Take(t.Context(), shop, StopMove{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if view, _ := p.View(shop); view.Moving() || !errors.Is(view.Move.Err, context.Canceled) {
			t.Errorf("expected the move to have been stopped, got %+v", view.Move)
		}
	})
	closed := strings.Count(strings.Join(store.got, "\n"), "b:1 CLUSTER SETSLOT")
	if opened := strings.Count(strings.Join(store.got, "\n"), "IMPORTING"); opened != 192 || closed != 2*opened {
		t.Errorf("expected the batch that was open to be moved and closed, got %d slots opened at b:1, and %d closed", opened, closed-opened)
	}
}

func TestASlotWhoseOwnerFollowsAnotherByNowIsNotClosed(t *testing.T) {
	store := &scripted{keys: map[int][]any{}, role: "slave"}
	got := moved(t, store, plan(5), time.Second)
	if got.Err == nil || !strings.Contains(got.Err.Error(), "no longer a primary") {
		t.Errorf("expected the move to have failed, got %+v", got)
	}
	for _, line := range store.got {
		if strings.Contains(line, "NODE") {
			t.Errorf("expected no slot to be given away on the word of a replica, got %s", line)
		}
	}
}

func TestASlotWithAKeyThatIsTooLargeStaysAndOthersGo(t *testing.T) {
	large := "key\n" + strings.Repeat("x", 200)
	store := &scripted{keys: map[int][]any{5: {"k1"}, 6: {"k2", large}, 40: {"k3"}}, sizes: map[any]int64{large: 300 << 20}}
	got := moved(t, store, plan(5, 6, 40), time.Second)
	if got.Moved != 2 || got.Failures != 1 {
		t.Errorf("expected two slots to be moved, got %+v", got)
	}
	words := `key "key\n` + strings.Repeat("x", 96) + `"... is too large to be moved with its slot: it has 300 MiB, and the limit is 256 MiB`
	if got.Err == nil || !strings.Contains(got.Err.Error(), words) {
		t.Errorf("expected the move to end with %s, got %v", words, got.Err)
	}
	for _, line := range store.got {
		if strings.Contains(line, "SETSLOT 6 ") || strings.Contains(line, "k2") {
			t.Errorf("expected nothing of the slot to be moved, got %s", line)
		}
	}
}

// Once the move of a slot has started, its large key must be moved too. Otherwise the slot would stay half moved.
func TestASlotThatIsOpenIsMovedEvenWithALargeKey(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k1"}}, sizes: map[any]int64{"k1": 300 << 20}, replication: "used_memory:1000000000\r\n"}
	step := plan(5)
	step.Open = true
	if got := moved(t, store, step, time.Second); !got.Ended || got.Err != nil || got.Moved != 1 {
		t.Errorf("expected the slot to have been moved, got %+v", got)
	}
}

func TestTheEndThatGetsASlotLearnsItsOwner(t *testing.T) {
	const to = "b:1 10.0.0.2:1@2 myself,master - 0 0 2 connected\n"
	assigned := "b:1 CLUSTER SETSLOT 5 NODE a:1"
	for name, test := range map[string]struct {
		table  string
		assign bool
		failed string
	}{
		"it knows":                     {table: ownTable},
		"it lists no owner":            {table: "a:1 10.0.0.1:1@2 master - 0 0 3 connected 6-16383\n" + to, assign: true},
		"it has it with who was lost":  {table: "a:1 10.0.0.1:1@2 master - 0 0 3 connected\nc:1 10.0.0.3:1@2 master,fail - 0 0 1 connected 0-9\n" + to, assign: true},
		"it knows of a later owner":    {table: "a:1 10.0.0.1:1@2 master - 0 0 3 connected\nc:1 10.0.0.3:1@2 master - 0 0 4 connected 0-9\n" + to, failed: "slot 5 now belongs to c:1"},
		"it holds the owner a replica": {table: "a:1 10.0.0.1:1@2 slave c:1 0 0 3 connected\n" + to, failed: "does not know yet that a:1 is a primary"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &scripted{keys: map[int][]any{}, nodes: test.table}
			got := moved(t, store, plan(5), time.Second)
			if slices.Contains(store.got, assigned) != test.assign {
				t.Errorf("expected it to get the owner: %t, got\n%s", test.assign, strings.Join(store.got, "\n"))
			}
			if got.Failed() != (test.failed != "") || got.Failed() && !strings.Contains(got.Err.Error(), test.failed) {
				t.Errorf("expected the move to fail by %q, got %v", test.failed, got.Err)
			}
		})
	}
}
