// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
)

// apply strikes the process from all tables that can be reached: one that forgets later
// hears of it again from one that has not yet, for up to a minute.
func (s Forget) apply(ctx context.Context, store Store) error {
	var errs []error
	for _, at := range s.At {
		_, err := store.Do(ctx, at, clusterCommand("FORGET", s.ID))
		if err != nil && !refused(err, "Unknown node") {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// apply takes the process out only if it holds no key now, whatever its role: a reset has
// a replica drop all that it holds.
func (s ResetEmpty) apply(ctx context.Context, store Store) error {
	return reset(ctx, store, s.Address, s.ID, "SOFT")
}

func (s Renew) apply(ctx context.Context, store Store) error {
	return reset(ctx, store, s.Address, s.ID, "HARD")
}

func reset(ctx context.Context, store Store, address, id, how string) error {
	status, err := store.Status(ctx, address)
	if err != nil {
		return err
	}
	if status.ID != id {
		return fmt.Errorf("%s is %s by now, and not %s", address, status.ID, id)
	}
	if status.Keys > 0 || len(status.Slots) > 0 {
		return fmt.Errorf("%s holds %d keys and %d slots", address, status.Keys, status.Slots.Len())
	}
	_, err = store.Do(ctx, address, clusterCommand("RESET", how))
	return err
}

// errBackground reports that a step is not one for Apply.
var errBackground = errors.New("slots are moved in the background: see Prober.Take")

func (s MoveSlots) apply(context.Context, Store) error { return errBackground }

func (s StopMove) apply(context.Context, Store) error { return errBackground }
