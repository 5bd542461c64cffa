// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// holding is a store whose servers have the same number of keys in every slot.
type holding struct {
	*scripted
	keys map[string]int64
}

func (h holding) Do(ctx context.Context, address string, commands ...Command) ([]any, error) {
	if fmt.Sprint(commands[0][:2]...) == fmt.Sprint("CLUSTER", "COUNTKEYSINSLOT") {
		out := make([]any, len(commands))
		for i := range out {
			out[i] = h.keys[address]
		}
		h.calls++
		return out, nil
	}
	return h.scripted.Do(ctx, address, commands...)
}

func TestASlotToCloseIsOpenedToTheProcessWithMostOfItsKeys(t *testing.T) {
	for name, test := range map[string]struct {
		keys map[string]int64
		want []string
	}{
		"none has any": {nil, []string{"a:1 CLUSTER SETSLOT 5 STABLE"}},
		"one has":      {map[string]int64{"c:1": 2}, []string{"c:1 CLUSTER SETSLOT 5 IMPORTING a:1", "a:1 CLUSTER SETSLOT 5 MIGRATING c:1"}},
		"two have": {map[string]int64{"b:1": 1, "c:1": 2, "d:1": 1},
			[]string{"c:1 CLUSTER SETSLOT 5 IMPORTING a:1", "a:1 CLUSTER SETSLOT 5 MIGRATING c:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := holding{&scripted{}, test.keys}
			others := []End{{Address: "b:1", ID: "b:1"}, {Address: "c:1", ID: "c:1"}, {Address: "d:1", ID: "d:1"}}
			if err := (CancelMove{Address: "a:1", Slots: SlotsOf(5), Others: others}).Apply(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(store.got, test.want) {
				t.Errorf("expected servers to get %q, got %q", test.want, store.got)
			}
		})
	}
}

// An operator that is killed may leave thousands of slots half moved. A step that ends their move must not take longer
// than two seconds.
func TestThousandsOfSlotsAreClosedInAFewRoundTrips(t *testing.T) {
	store := holding{&scripted{}, nil}
	if err := (CancelMove{Address: "a:1", Slots: SlotsOf(numbers(0, 4000)...), Others: []End{{Address: "b:1", ID: "b:1"}, {Address: "c:1", ID: "c:1"}}}).Apply(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if len(store.got) != 4000 || store.calls > 50 {
		t.Errorf("expected 4000 slots to be closed in up to 50 round trips, %d were in %d", len(store.got), store.calls)
	}
}
