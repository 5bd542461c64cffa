// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// Apply first checks that the replica has had no connection to its primary since the step was decided, and has keys of
// the primary's slots. A replica that never reached its primary may only have keys of other slots. Apply then waits for
// the election.
func (s ForceFailover) Apply(ctx context.Context, store Store) error {
	status, err := store.Status(ctx, s.Address)
	primary, _ := status.Peer(status.PrimaryID) // the address is empty if another server now has it
	switch {
	case err != nil:
		return err
	case status.Role == Primary:
		return nil
	case !status.Unlinked && primary.Address != "" || status.LinkUp:
		return fmt.Errorf("%s has been connected to its primary since the failover was decided", s.Address)
	}
	held, err := holds(ctx, store, s.Address, primary.Slots)
	if err != nil {
		return err
	}
	if !held {
		return fmt.Errorf("%s has no key of its primary's slots", s.Address)
	}
	if _, err := store.Do(ctx, s.Address, server.ClusterCommand("FAILOVER", "FORCE")); err != nil {
		return err
	}
	return awaitLead(ctx, store, s.Address)
}

// holds reports whether a server has any key of the given slots.
func holds(ctx context.Context, store Store, address string, slots Slots) (bool, error) {
	if len(slots) == 0 {
		return false, nil
	}
	var commands []Command
	for _, slot := range slots.Numbers() {
		commands = append(commands, server.ClusterCommand("COUNTKEYSINSLOT", slot))
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
