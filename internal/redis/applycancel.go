// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
)

// apply closes slots, but none that another process has keys of: they have been moved there,
// and are to be found only once the slot is.
func (s CancelMove) apply(ctx context.Context, store Store) error {
	status, err := store.Status(ctx, s.Address)
	if err != nil {
		return err
	}
	here := End{Address: s.Address, ID: status.ID}
	for _, slot := range s.Slots.Numbers() {
		holder, err := s.holder(ctx, store, slot)
		if err != nil {
			return err
		}
		if holder != nil {
			err = reopen(ctx, store, slot, here, *holder)
		} else {
			err = closeSlot(ctx, store, slot, here, status.Slots.Contains(slot))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holder is who of the others has most keys of a slot; nil if nobody has any.
func (s CancelMove) holder(ctx context.Context, store Store, slot int) (*End, error) {
	var holder *End
	var most int64
	for _, other := range s.Others {
		keys, err := countKeys(ctx, store, other.Address, slot)
		if err != nil {
			return nil, err
		}
		if keys > most {
			holder, most = &other, keys
		}
	}
	return holder, nil
}

func countKeys(ctx context.Context, store Store, address string, slot int) (int64, error) {
	answers, err := store.Do(ctx, address, clusterCommand("COUNTKEYSINSLOT", slot))
	if err != nil {
		return 0, err
	}
	keys, ok := answers[0].(int64)
	if !ok {
		return 0, fmt.Errorf("%s: CLUSTER COUNTKEYSINSLOT: %v is no number", address, answers[0])
	}
	return keys, nil
}

func closeSlot(ctx context.Context, store Store, slot int, at End, owns bool) error {
	keys, err := countKeys(ctx, store, at.Address, slot)
	if err != nil {
		return err
	}
	if keys > 0 && !owns {
		return fmt.Errorf("%s holds %d keys of slot %d, which is another's", at.Address, keys, slot)
	}
	_, err = store.Do(ctx, at.Address, clusterCommand("SETSLOT", slot, "STABLE"))
	return err
}

// reopen has a move be one again that is known at both ends.
func reopen(ctx context.Context, store Store, slot int, from, to End) error {
	if _, err := store.Do(ctx, to.Address, clusterCommand("SETSLOT", slot, "IMPORTING", from.ID)); err != nil {
		return err
	}
	_, err := store.Do(ctx, from.Address, clusterCommand("SETSLOT", slot, "MIGRATING", to.ID))
	return err
}
