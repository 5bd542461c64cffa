// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// batch is a group of slots that move together from one server to another.
type batch struct {
	*mover
	server.Store
	Move
	slots []int
	// lanes is the number of connections over which commands are spread.
	lanes int
}

// confirm checks the IDs of both servers of the move, because a different server may now run at one of the addresses.
func (b *batch) confirm(ctx context.Context) error {
	for _, end := range []End{b.To, b.From} {
		if err := server.Confirm(ctx, b.Store, end.Address, end.ID); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) setSlots(ctx context.Context, address string, slots []int, state, id string) error {
	commands := make([]server.Command, len(slots))
	for i, slot := range slots {
		commands[i] = server.ClusterCommand("SETSLOT", slot, state, id)
	}
	return spread(ctx, b.Store, b.lanes, address, commands)
}

func (b *batch) do(ctx context.Context, address string, commands ...server.Command) ([]any, error) {
	return within(ctx, b.Store, address, commands...)
}
