// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/backup"
)

func (a *Agent) prune(ctx context.Context, s *shelf, keep int) (backup.Result, error) {
	return a.pruneBut(ctx, s, keep)
}

// pruneBut removes the path's periodic backups but the newest ones and those that are spared. A result comes with
// an error, too: it tells how far it got.
func (a *Agent) pruneBut(ctx context.Context, s *shelf, keep int, spared ...string) (backup.Result, error) {
	result := backup.Result{Outcome: backup.Succeeded}
	items, _, err := s.items(ctx, backup.Prefix(s.key))
	if err != nil {
		return result, err
	}
	stored, err := s.judge(ctx, items, keep)
	if err != nil {
		return result, err
	}
	for _, gone := range backup.Surplus(stored, keep, spared...) {
		if err := s.remove(ctx, gone.Object); err != nil {
			return result, fmt.Errorf("remove %q: %w", s.bucket+gone.Object, err)
		}
		a.Log.Info("Removed", "object", s.bucket+gone.Object)
		result.Pruned++
		result.PrunedObjects = append(result.PrunedObjects, s.bucket+gone.Object)
	}
	return result, nil
}

// judge tells which backups are complete. Beyond those that stay nobody needs to know.
func (s *shelf) judge(ctx context.Context, items []item, keep int) ([]backup.Stored, error) {
	var out []backup.Stored
	complete := 0
	for _, i := range items {
		judged := backup.Stored{Object: i.key, Name: i.name}
		if complete < keep {
			m, err := s.trusted(ctx, i)
			if err != nil {
				return nil, err
			}
			judged.Complete = m != nil
		}
		if judged.Complete {
			complete++
		}
		out = append(out, judged)
	}
	return out, nil
}

// remove begins with the record: what a crash leaves is found again by its name.
func (s *shelf) remove(ctx context.Context, key string) error {
	if err := s.Delete(ctx, backup.MetaName(key)); err != nil {
		return err
	}
	return s.Delete(ctx, key)
}
