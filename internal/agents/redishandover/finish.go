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
	// keysAtOnce is how many keys one MIGRATE command moves. It is small, because both servers block their clients
	// while MIGRATE runs.
	keysAtOnce = "10"
	// migrateTimeout is how long one server waits for the other one, in milliseconds.
	migrateTimeout = "5000"
	// slotsAtOnce is how many slots are moved together. There may be thousands of unfinished slots, and only seconds to
	// finish them.
	slotsAtOnce = 256
)

// end is the source or the target of a slot move, with a connection to that server.
type end struct {
	clusternodes.Node
	conn *resp.Conn
}

// finish completes slot moves that the operator has started and not finished. The operator uses the same commands, so
// both may do this concurrently. Slots that cannot be moved in time stay as they are. finish opens its own connection,
// because a connection is unusable after a request times out.
func (h *handover) finish(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := h.logIn(ctx, h.address)
	if err != nil {
		return // if the server does not answer, the next command fails and reports it
	}
	defer conn.Close()
	nodes, err := h.nodes(ctx, conn)
	if err != nil {
		return // if the server does not answer, the next command fails and reports it
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

// byOther groups the slots that are being moved by the ID of the other server, in ascending order.
func byOther(open map[int]string) map[string][]int {
	out := map[string][]int{}
	for _, slot := range slices.Sorted(maps.Keys(open)) {
		out[open[slot]] = append(out[open[slot]], slot)
	}
	return out
}

// finishWith logs in to the other server of a move and moves the slots. If the servers refuse several slots at once, it
// moves them one by one.
func (h *handover) finishWith(ctx context.Context, nodes []clusternodes.Node, id string, slots []int, move func(end, []int) error) {
	i := slices.IndexFunc(nodes, func(n clusternodes.Node) bool { return n.ID == id })
	if i < 0 {
		h.log.Info("Slots are moving to or from an unknown server", "id", id, "slots", len(slots))
		return
	}
	conn, err := h.dial(ctx, nodes[i].Address)
	if err != nil {
		h.log.Info("Moving slots could not be completed", "other", nodes[i].Address, "slots", len(slots), "error", err.Error())
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
				h.log.Info("A moving slot could not be completed", "slot", some[i], "other", other.Address, "error", err.Error())
			}
		}
		if _, refused := errors.AsType[resp.Error](err); err != nil && !refused {
			h.log.Info("Moving slots could not be completed", "other", other.Address, "error", err.Error())
			return
		}
	}
}

// move moves the keys of slots from one server to the other, and then changes the owner. The target is changed first,
// so that the slots always have an owner.
func (h *handover) move(ctx context.Context, slots []int, from, to end) error {
	host, port, err := net.SplitHostPort(to.Address)
	if err != nil {
		return err
	}
	migrate := []string{"MIGRATE", host, port, "", "0", migrateTimeout, "REPLACE", "AUTH2", redispod.System, h.password, "KEYS"}
	for {
		// A server that has become a replica owns no slots, and would lose keys that are written to it.
		if slots, err = h.remaining(ctx, slots, from, to); err != nil {
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
			return fmt.Errorf("move %d slots to %s: %w", len(slots), to.Address, err)
		}
	}
	return nil
}

// each returns one command for each slot.
func each(slots []int, command func(slot string) []string) [][]string {
	out := make([][]string, len(slots))
	for i, slot := range slots {
		out[i] = command(strconv.Itoa(slot))
	}
	return out
}

// remaining returns the slots that still belong to the source, according to both servers. Both servers must be
// primaries.
func (h *handover) remaining(ctx context.Context, slots []int, from, to end) ([]int, error) {
	out := slices.Clone(slots)
	for _, at := range []end{from, to} {
		nodes, err := h.nodes(ctx, at.conn)
		if err != nil {
			return nil, err
		}
		self, _ := clusternodes.Myself(nodes)
		if self.Primary != "" {
			return nil, fmt.Errorf("%s has become a replica", at.Address)
		}
		out = slices.DeleteFunc(out, func(slot int) bool {
			has := slices.ContainsFunc(self.Slots, func(r clusternodes.Range) bool { return r.First <= slot && slot <= r.Last })
			return has != (at.ID == from.ID)
		})
	}
	return out, nil
}
