// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"slices"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// An operator that is killed during a large batch leaves slots that one or both servers mark as moving. Other slots
// already belong to the destination, while the source still marks them as moving.
func TestThousandsOfSlotsThatAnOperatorLeftHalfMovedAreFinished(t *testing.T) {
	const opened, atBoth, given = 2000, 1500, 700
	o := operate(t, 3)
	o.settled(soon)
	lists := []string{"{mid}1", "{b}1", "{c}1", "{d}1", "{e}1", "{f}1"}
	o.fillLists(lists)
	o.crash()
	o.needsKeys()
	from, to := o.pods[0].home, o.pods[1].home
	empty := o.emptySlots(from, opened)
	o.setSlots(to, empty, "IMPORTING", o.endAt(from).ID)
	o.setSlots(from, empty[:atBoth], "MIGRATING", o.endAt(to).ID)
	o.setSlots(to, empty[:given], "NODE", o.endAt(to).ID)
	o.run()
	o.settled(later)
	o.listsAreWhole(lists)
}

func (o *operator) store() redis.Store {
	o.t.Helper()
	store, err := redis.Dial(redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: secret}})
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = store.Close() })
	return store
}

// emptySlots returns the first slots of a server that have no keys.
func (o *operator) emptySlots(s *server, count int) []int {
	o.t.Helper()
	var out []int
	var commands []redis.Command
	for slot := range count + 100 {
		commands = append(commands, redis.Command{"CLUSTER", "COUNTKEYSINSLOT", slot})
	}
	answers, err := o.store().Do(o.t.Context(), s.address, commands...)
	if err != nil {
		o.t.Fatal(err)
	}
	for slot, keys := range answers {
		if keys == int64(0) {
			out = append(out, slot)
		}
	}
	return out[:count]
}

func (o *operator) setSlots(s *server, slots []int, state, id string) {
	o.t.Helper()
	store := o.store()
	for some := range slices.Chunk(slots, 500) {
		var commands []redis.Command
		for _, slot := range some {
			commands = append(commands, redis.Command{"CLUSTER", "SETSLOT", slot, state, id})
		}
		if _, err := store.Do(o.t.Context(), s.address, commands...); err != nil {
			o.t.Fatal(err)
		}
	}
}
