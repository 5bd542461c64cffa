// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tuning

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Send sends the commands to a server one by one, so that a refused command does not block the others. It returns the
// first refusal.
func (t Tuning) Send(ctx context.Context, store redis.Store, address string) error {
	var refused error
	for _, command := range t.Commands {
		_, err := store.Do(ctx, address, command)
		refusal, is := errors.AsType[*redis.Refusal](err)
		switch {
		case is && refused == nil:
			refused = &redis.Refusal{Text: fmt.Sprintf("%v: %s", command[2], refusal.Text)}
		case !is && err != nil:
			return err
		}
	}
	return refused
}
