// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// holding says how many keys of every slot servers have.
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

func TestASlotThatIsToBeClosedIsOpenedToWhoHasMostOfItsKeys(t *testing.T) {
	for name, test := range map[string]struct {
		keys map[string]int64
		want []string
	}{
		"nobody has any": {nil, []string{"a:1 CLUSTER SETSLOT 5 STABLE"}},
		"one has":        {map[string]int64{"c:1": 2}, []string{"c:1 CLUSTER SETSLOT 5 IMPORTING a:1", "a:1 CLUSTER SETSLOT 5 MIGRATING c:1"}},
		"two have": {map[string]int64{"b:1": 1, "c:1": 2, "d:1": 1},
			[]string{"c:1 CLUSTER SETSLOT 5 IMPORTING a:1", "a:1 CLUSTER SETSLOT 5 MIGRATING c:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := holding{&scripted{}, test.keys}
			others := []End{{"b:1", "b:1"}, {"c:1", "c:1"}, {"d:1", "d:1"}}
			if err := (CancelMove{Address: "a:1", Slots: SlotsOf(5), Others: others}).apply(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(store.told, test.want) {
				t.Errorf("expected servers to be told %q, got %q", test.want, store.told)
			}
		})
	}
}

// What an operator leaves open when it ends in the middle may be thousands, and a step has two seconds.
func TestThousandsOfSlotsAreClosedInAFewRoundTrips(t *testing.T) {
	store := holding{&scripted{}, nil}
	if err := (CancelMove{Address: "a:1", Slots: SlotsOf(numbers(0, 4000)...), Others: []End{{"b:1", "b:1"}, {"c:1", "c:1"}}}).apply(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if len(store.told) != 4000 || store.calls > 50 {
		t.Errorf("expected 4000 slots to be closed in up to 50 round trips, %d were in %d", len(store.told), store.calls)
	}
}
