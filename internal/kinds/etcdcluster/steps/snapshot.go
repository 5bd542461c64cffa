// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// ErrNoEntries reports that no log entry could be written. The next view of the members shows how many entries are
// still needed.
var ErrNoEntries = errors.New("no entry was written")

// Advance returns the step that writes the given number of log entries, as far as the time limit of a step allows. It
// causes no event.
func Advance(entries uint64) *Step {
	return &Step{Name: "have the members write a snapshot", Do: func(ctx context.Context, store etcd.Store) error {
		if err := store.Advance(ctx, entries); err != nil {
			return fmt.Errorf("%w: %w", ErrNoEntries, err)
		}
		return nil
	}}
}
