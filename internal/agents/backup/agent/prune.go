// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func (a *Agent) prune(ctx context.Context, s *catalog, keep int) (backup.Result, error) {
	result, _, err := a.pruneBut(ctx, s, keep, nil)
	return result, err
}

// pruneBut removes periodic backups of the path. It keeps the newest backups of each cluster, and the backups in
// spared. All IDs in own count as one cluster; others are the IDs of other clusters. If it fails, the result still
// lists the removed backups.
func (a *Agent) pruneBut(ctx context.Context, s *catalog, keep int, own []string, spared ...string) (result backup.Result, others []string, err error) {
	result.Outcome = backup.Succeeded
	items, _, err := s.items(ctx, backup.Prefix(s.key))
	if err != nil {
		return result, nil, err
	}
	stored, err := s.judge(ctx, items, own)
	if err != nil {
		return result, nil, err
	}
	others = otherClusters(stored, own)
	for _, gone := range backup.Surplus(stored, keep, a.Clock.Now(), spared...) {
		if err := s.remove(ctx, gone.Object); err != nil {
			return result, others, fmt.Errorf("remove %q: %w", s.bucket+gone.Object, err)
		}
		a.Log.Info("Removed", "object", s.bucket+gone.Object)
		result.Pruned++
		result.PrunedObjects = append(result.PrunedObjects, s.bucket+gone.Object)
	}
	return result, others, nil
}

// judge reads the records of backups. It returns for each backup whether the backup is complete, and to which cluster
// it belongs.
func (s *catalog) judge(ctx context.Context, items []item, own []string) ([]backup.Stored, error) {
	var out []backup.Stored
	for _, i := range items {
		m, err := s.meta(ctx, i)
		if err != nil {
			return nil, err
		}
		judged := i.stored(m)
		if slices.Contains(own, judged.Cluster) {
			judged.Cluster = own[0]
		}
		out = append(out, judged)
	}
	return out, nil
}

// otherClusters returns the IDs of other clusters with backups in the path.
func otherClusters(stored []backup.Stored, own []string) []string {
	var out []string
	for _, s := range stored {
		if s.Cluster != "" && !slices.Contains(own, s.Cluster) && !slices.Contains(out, s.Cluster) {
			out = append(out, s.Cluster)
		}
	}
	return out
}

// remove deletes a backup. It deletes the record first: if the process then crashes, the next run still finds the
// object by its name.
func (s *catalog) remove(ctx context.Context, key string) error {
	if err := s.Delete(ctx, backup.MetaName(key)); err != nil {
		return err
	}
	return s.Delete(ctx, key)
}
