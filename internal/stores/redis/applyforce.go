// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
)

// apply asks first whether the primary has been there since, and whether what the replica holds is
// of the primary's slots: one that was asked to follow it, and never reached it, may hold something
// else. It waits for the election as TakeLead does.
func (s ForceFailover) apply(ctx context.Context, store Store) error {
	status, err := store.Status(ctx, s.Address)
	primary, _ := status.Peer(status.PrimaryID) // without an address where another process has it
	switch {
	case err != nil:
		return err
	case status.Role == Primary:
		return nil
	case !status.Unlinked && primary.Address != "" || status.LinkUp:
		return fmt.Errorf("%s has been connected to its primary since", s.Address)
	}
	held, err := holds(ctx, store, s.Address, primary.Slots)
	if err != nil {
		return err
	}
	if !held {
		return fmt.Errorf("%s holds no key of the slots of its primary", s.Address)
	}
	if _, err := store.Do(ctx, s.Address, clusterCommand("FAILOVER", "FORCE")); err != nil {
		return err
	}
	return awaitLead(ctx, store, s.Address)
}

// holds reports whether a process has a key of some slots.
func holds(ctx context.Context, store Store, address string, slots Slots) (bool, error) {
	if len(slots) == 0 {
		return false, nil
	}
	var commands []Command
	for _, slot := range slots.Numbers() {
		commands = append(commands, clusterCommand("COUNTKEYSINSLOT", slot))
	}
	answers, err := store.Do(ctx, address, commands...)
	if err != nil {
		return false, err
	}
	for _, answer := range answers {
		if keys, ok := answer.(int64); ok && keys > 0 {
			return true, nil
		}
	}
	return false, nil
}
