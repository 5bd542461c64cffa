// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// tune sends servers their passwords and settings. A server that does not answer gets them later. A refused setting is
// sent again only after the server restarts or the settings change.
func (r *Runner) tune(ctx context.Context, in Input) error {
	key := client.ObjectKeyFromObject(in.Cluster)
	err := r.Prober.Do(ctx, key, func(ctx context.Context, store redis.Store) error {
		var errs []error
		for _, s := range in.Pending {
			err := in.Tuning.Send(ctx, store, s.Address)
			refusal, refused := errors.AsType[*redis.Refusal](err)
			switch {
			case refused:
				r.Memory.Tuned(key, s.Run, in.Tuning.Generation, refusal.Text)
			case err != nil:
				errs = append(errs, err)
			default:
				r.Memory.Tuned(key, s.Run, in.Tuning.Generation, "")
			}
		}
		return errors.Join(errs...)
	})
	runs := map[string]bool{}
	for _, s := range in.Servers {
		runs[s.Run] = true
	}
	r.Memory.KeepRuns(key, runs)
	if err != nil {
		r.Memory.Postpone(key, r.Clock.Now(), err.Error())
		return kit.ErrNotNow
	}
	r.Memory.Taken(key)
	return nil
}
