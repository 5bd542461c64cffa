// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

func TestASlotWithAKeyThatIsTooLargeIsReportedAndOthersAreMoved(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	o.needsKeys()
	for _, p := range o.pods {
		for _, s := range p.servers() {
			o.command(s, redis.Command{"CONFIG", "SET", "maxmemory", 0})
		}
	}
	key := o.keyFrom(o.pods[0].home, 4096, 5460) // the key's slot later moves to the fourth pod
	if err := o.client().SetRange(t.Context(), key, 270<<20, "end").Err(); err != nil {
		t.Fatal(err)
	}
	o.scale(4)
	o.await(soon, "the key to be reported, and all other slots to have been moved", func(view redis.View, wanted ring.Ring, _ ring.Why) bool {
		reported := view.Move != nil && view.Move.Err != nil && strings.Contains(view.Move.Err.Error(), key)
		return reported && view.Nodes[wanted.Home(3)].Slots.Len() == redis.SlotCount/4-1 && len(view.Nodes[wanted.Home(0)].Migrating) == 0
	})
	if err := o.client().Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	o.settled(soon)
}

// keyFrom returns a key whose slot is in the given range.
func (o *operator) keyFrom(at *server, first, last int64) string {
	for i := 0; ; i++ {
		key := fmt.Sprint("large:", i)
		if slot, _ := o.slot(at, key).(int64); slot >= first && slot <= last {
			return key
		}
	}
}
