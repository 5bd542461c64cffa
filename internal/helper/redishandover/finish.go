// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/helper/redissecrets"
	"github.com/opcrew/opcrew/internal/helper/resp"
	"github.com/opcrew/opcrew/internal/redis/clusternodes"
)

const (
	// keysAtOnce go by one command, for which both ends serve nobody.
	keysAtOnce = "10"
	// migrateTimeout is how long one end waits for the other, in milliseconds.
	migrateTimeout = "5000"
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
	for _, slot := range slices.Sorted(maps.Keys(self.Migrating)) {
		h.finishWith(ctx, nodes, self.Migrating[slot], func(other end) error { return h.move(ctx, slot, own, other) })
	}
	for _, slot := range slices.Sorted(maps.Keys(self.Importing)) {
		h.finishWith(ctx, nodes, self.Importing[slot], func(other end) error { return h.move(ctx, slot, other, own) })
	}
}

// finishWith logs in to the other end of a move.
func (h *handover) finishWith(ctx context.Context, nodes []clusternodes.Node, id string, move func(other end) error) {
	i := slices.IndexFunc(nodes, func(n clusternodes.Node) bool { return n.ID == id })
	if i < 0 {
		h.log.Info("A slot is open to a server that is not known", "id", id)
		return
	}
	conn, err := h.dial(ctx, nodes[i].Address)
	if err == nil {
		defer conn.Close()
		err = move(end{nodes[i], conn})
	}
	if err != nil {
		h.log.Info("A slot that is open cannot be moved", "other", nodes[i].Address, "error", err.Error())
	}
}

// move takes the keys of a slot from one end to the other, and has that own it: the other end first, as nobody would if it
// were lost before it knew.
func (h *handover) move(ctx context.Context, number int, from, to end) error {
	slot := strconv.Itoa(number)
	host, port, err := net.SplitHostPort(to.Address)
	if err != nil {
		return err
	}
	for {
		// An end that follows another by now has none to tell of, and what its new primary was given since would be lost.
		if err := h.owns(ctx, number, from, to); err != nil {
			return err
		}
		keys, err := from.conn.List(ctx, "CLUSTER", "GETKEYSINSLOT", slot, keysAtOnce)
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		command := []string{"MIGRATE", host, port, "", "0", migrateTimeout, "REPLACE", "AUTH2", redissecrets.System, h.password, "KEYS"}
		if _, err := from.conn.Do(ctx, append(command, keys...)...); err != nil {
			return err
		}
	}
	for _, at := range []end{to, from} {
		if _, err := at.conn.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.ID); err != nil {
			return fmt.Errorf("give slot %s to %s: %w", slot, to.Address, err)
		}
	}
	return nil
}

// owns fails unless both ends are primaries, and the first owns a slot, for all that each says of itself.
func (h *handover) owns(ctx context.Context, slot int, from, to end) error {
	for _, at := range []end{from, to} {
		nodes, err := h.nodes(ctx, at.conn)
		if err != nil {
			return err
		}
		self, _ := clusternodes.Myself(nodes)
		has := slices.ContainsFunc(self.Slots, func(r clusternodes.Range) bool { return r.First <= slot && slot <= r.Last })
		if self.Primary != "" || has != (at.ID == from.ID) {
			return fmt.Errorf("slot %d is not that of %s to be given to %s any more", slot, from.Address, to.Address)
		}
	}
	return nil
}
