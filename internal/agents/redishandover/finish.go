// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

const (
	// keysAtOnce go by one command, for which both ends serve no one.
	keysAtOnce = "10"
	// migrateTimeout is how long one end waits for the other, in milliseconds.
	migrateTimeout = "5000"
	// slotsAtOnce are moved together: an operator that is gone may have left thousands open, and there are seconds.
	slotsAtOnce = 256
)

// end is one of a move: a server, and a connection to it.
type end struct {
	clusternodes.Node
	conn *resp.Conn
}

// finish moves what is left of the slots that the server has open, as the operator would: if that does so too, each finds
// what the other has done. What it cannot finish in time stays open. It has a connection of its own: one whose answer did
// not come is of no use any more.
func (h *handover) finish(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := h.logIn(ctx, h.address)
	if err != nil {
		return // whatever is asked next tells
	}
	defer conn.Close()
	nodes, err := h.nodes(ctx, conn)
	if err != nil {
		return // as above
	}
	self, _ := clusternodes.Myself(nodes)
	own := end{self, conn}
	h.lookUp(ctx)
	for id, slots := range byOther(self.Migrating) {
		h.finishWith(ctx, nodes, id, slots, func(other end, slots []int) error { return h.move(ctx, slots, own, other) })
	}
	for id, slots := range byOther(self.Importing) {
		h.finishWith(ctx, nodes, id, slots, func(other end, slots []int) error { return h.move(ctx, slots, other, own) })
	}
}

// byOther are open slots in ascending order, by the ID of the other end.
func byOther(open map[int]string) map[string][]int {
	out := map[string][]int{}
	for _, slot := range slices.Sorted(maps.Keys(open)) {
		out[open[slot]] = append(out[open[slot]], slot)
	}
	return out
}

// finishWith logs in to the other end of a move, and moves slots. Where some are refused, as for one that cannot go, the
// others of them go one by one.
func (h *handover) finishWith(ctx context.Context, nodes []clusternodes.Node, id string, slots []int, move func(end, []int) error) {
	i := slices.IndexFunc(nodes, func(n clusternodes.Node) bool { return n.ID == id })
	if i < 0 {
		h.log.Info("Slots are open to a server that is not known", "id", id, "slots", len(slots))
		return
	}
	conn, err := h.dial(ctx, nodes[i].Address)
	if err != nil {
		h.log.Info("Slots that are open cannot be moved", "other", nodes[i].Address, "slots", len(slots), "error", err.Error())
		return
	}
	defer conn.Close()
	other := end{nodes[i], conn}
	for some := range slices.Chunk(slots, slotsAtOnce) {
		err := move(other, some)
		if _, refused := errors.AsType[resp.Error](err); !refused {
			some = nil
		}
		for i := range some {
			if err = move(other, some[i:i+1]); err != nil {
				h.log.Info("A slot that is open cannot be moved", "slot", some[i], "other", other.Address, "error", err.Error())
			}
		}
		if _, refused := errors.AsType[resp.Error](err); err != nil && !refused {
			h.log.Info("Slots that are open cannot be moved", "other", other.Address, "error", err.Error())
			return
		}
	}
}

// move takes the keys of slots from one end to the other, and has that own them: the other end first, as no one would if
// it were lost before it knew.
func (h *handover) move(ctx context.Context, slots []int, from, to end) error {
	host, port, err := net.SplitHostPort(to.Address)
	if err != nil {
		return err
	}
	migrate := []string{"MIGRATE", host, port, "", "0", migrateTimeout, "REPLACE", "AUTH2", redispod.System, h.password, "KEYS"}
	for {
		// An end that follows another by now has none to tell of, and what its new primary was given since would be lost.
		if slots, err = h.theirs(ctx, slots, from, to); err != nil {
			return err
		}
		keys, err := from.conn.Pipe(ctx, each(slots, func(slot string) []string { return []string{"CLUSTER", "GETKEYSINSLOT", slot, keysAtOnce} }))
		if err != nil {
			return err
		}
		var commands [][]string
		for _, some := range keys {
			if len(some) > 0 {
				commands = append(commands, append(slices.Clip(migrate), some...))
			}
		}
		if len(commands) == 0 {
			break
		}
		if _, err := from.conn.Pipe(ctx, commands); err != nil {
			return err
		}
	}
	for _, at := range []end{to, from} {
		_, err := at.conn.Pipe(ctx, each(slots, func(slot string) []string { return []string{"CLUSTER", "SETSLOT", slot, "NODE", to.ID} }))
		if err != nil {
			return fmt.Errorf("give %d slots to %s: %w", len(slots), to.Address, err)
		}
	}
	return nil
}

// each makes a command for each slot.
func each(slots []int, command func(slot string) []string) [][]string {
	out := make([][]string, len(slots))
	for i, slot := range slots {
		out[i] = command(strconv.Itoa(slot))
	}
	return out
}

// theirs are those of some slots that the first end has yet to give to the second, for all that each says of itself. Both
// have to be primaries.
func (h *handover) theirs(ctx context.Context, slots []int, from, to end) ([]int, error) {
	out := slices.Clone(slots)
	for _, at := range []end{from, to} {
		nodes, err := h.nodes(ctx, at.conn)
		if err != nil {
			return nil, err
		}
		self, _ := clusternodes.Myself(nodes)
		if self.Primary != "" {
			return nil, fmt.Errorf("%s follows another by now", at.Address)
		}
		out = slices.DeleteFunc(out, func(slot int) bool {
			has := slices.ContainsFunc(self.Slots, func(r clusternodes.Range) bool { return r.First <= slot && slot <= r.Last })
			return has != (at.ID == from.ID)
		})
	}
	return out, nil
}
