// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/prober"
	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// mayOpen checks whether the move of slots may start. A move that had already started must be completed in any case.
func (b *batch) mayOpen(ctx, paced context.Context) (large, err error) {
	if b.plan.Open {
		return nil, nil
	}
	if err := b.shelter(paced, mostBehindByKeys); err != nil {
		return nil, err
	}
	return b.leaveOut(ctx)
}

// open marks slots as moving at both servers. It does so even if they were marked before, because either server may
// have been replaced by a new primary that does not know about the move.
func (b *batch) open(ctx context.Context) error {
	if err := b.rebind(ctx); err != nil {
		return err
	}
	if err := b.setSlots(ctx, b.To.Address, b.slots, "IMPORTING", b.From.ID); err != nil {
		return err
	}
	return b.setSlots(ctx, b.From.Address, b.slots, "MIGRATING", b.To.ID)
}

// rebind corrects the owner that the destination lists for the slots. While the destination imports a slot, it does not
// learn that the slot has a new owner, and refuses keys from that owner (cluster.c, clusterUpdateSlotsConfigWith).
func (b *batch) rebind(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, prober.CallTimeout)
	defer cancel()
	status, err := b.Status(asking, b.To.Address)
	if err != nil {
		return err
	}
	wrong, err := misplaced(status, b.slots, b.From.ID)
	if err != nil || len(wrong) == 0 {
		return err
	}
	return b.setSlots(ctx, b.To.Address, wrong, "NODE", b.From.ID)
}

// misplaced returns the slots that a server lists under another owner than id. If that owner has a higher epoch,
// misplaced returns an error, because the slots then really have a new owner.
func misplaced(s server.NodeStatus, slots []int, id string) ([]int, error) {
	owner, known := s.Peer(id)
	if !known || owner.Role != server.Primary {
		return nil, fmt.Errorf("%s does not know yet that %s is a primary", s.ID, id)
	}
	out := server.SlotsOf(slots...).Without(owner.Slots)
	if len(out) == 0 {
		return nil, nil
	}
	for _, peer := range s.Known {
		if theirs := out.Within(peer.Slots); peer.ConfigEpoch > owner.ConfigEpoch && len(theirs) > 0 {
			return nil, fmt.Errorf("%s reports that slot %d now belongs to %s", s.ID, theirs[0].First, peer.ID)
		}
	}
	return out.Numbers(), nil
}
