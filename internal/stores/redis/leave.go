// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// Apply removes the server from the node tables of all servers that can be reached. For a minute, these servers ignore
// what others report about the removed server. After that, they add it again if some server still lists it.
func (s Forget) Apply(ctx context.Context, store Store) error {
	var errs []error
	for _, at := range s.At {
		_, err := store.Do(ctx, at, server.ClusterCommand("FORGET", s.ID))
		if err != nil && !server.Refused(err, "Unknown node") {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Apply resets the server only if it has no keys at that moment. A reset would delete the data even of a replica.
func (s ResetEmpty) Apply(ctx context.Context, store Store) error {
	return reset(ctx, store, s.Address, s.ID, "SOFT")
}

// Apply resets the server, which gives it a new ID.
func (s Renew) Apply(ctx context.Context, store Store) error {
	return reset(ctx, store, s.Address, s.ID, "HARD")
}

func reset(ctx context.Context, store Store, address, id, how string) error {
	status, err := store.Status(ctx, address)
	if err != nil {
		return err
	}
	if status.ID != id {
		return fmt.Errorf("the server at %s now has ID %s, not %s", address, status.ID, id)
	}
	if status.Keys > 0 || len(status.Slots) > 0 {
		return fmt.Errorf("%s must be empty to be reset, but has %d keys and %d slots", address, status.Keys, status.Slots.Len())
	}
	_, err = store.Do(ctx, address, server.ClusterCommand("RESET", how))
	return err
}
