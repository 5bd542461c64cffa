// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"time"

	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// restore creates a data directory from a backup, unless an earlier run of the same order has already created it.
func (a *Agent) restore(ctx context.Context, s *catalog, o backup.Order) (backup.Result, error) {
	if before, err := madeBefore(o); before != nil || err != nil {
		return settled(before), err
	}
	i, m, err := s.pick(ctx, o.Restore.Object, a.Clock.Now())
	if err != nil {
		return backup.Result{}, err
	}
	result := s.describe(i, m)
	if m != nil && m.Verified != nil && m.Verified.Corrupt != "" {
		if o.Restore.Object == "" {
			return result, backup.Fail(backup.ReasonCorrupt, "a verification found the backup %q corrupt: %s; to restore it nevertheless, name it in the spec", result.Object, m.Verified.Corrupt)
		}
		result.Reason, result.Message = backup.ReasonCorrupt, "the verification of "+m.Verified.At.Format(time.RFC3339)+" found the backup corrupt: "+m.Verified.Corrupt
	}
	a.Log.Info("Restoring", "object", result.Object, "size", i.size, "directory", o.Restore.DataDir)
	return a.make(ctx, o, result, func(path string) error { return s.fetch(ctx, i, m, path) })
}

// madeBefore returns the result of an earlier run of this order if that run created the data directory; otherwise nil.
func madeBefore(o backup.Order) (*backup.Result, error) {
	marker, err := datadir.At(o.Restore.DataDir).Look(o.ID, *o.Restore)
	if err != nil || marker == nil {
		return nil, err
	}
	marker.Result.Again = true
	return &marker.Result, nil
}

func settled(before *backup.Result) backup.Result {
	if before == nil {
		return backup.Result{}
	}
	return *before
}

// make creates a data directory from a snapshot. fetch writes the snapshot into a file next to the directory.
func (a *Agent) make(ctx context.Context, o backup.Order, result backup.Result, fetch func(path string) error) (backup.Result, error) {
	place := datadir.At(o.Restore.DataDir)
	if err := place.Begin(); err != nil {
		return result, err
	}
	defer place.Abandon()
	if err := fetch(place.Snapshot()); err != nil {
		return result, err
	}
	done, err := a.DataDir(ctx, datadir.Job{Snapshot: place.Snapshot(), Dir: place.Made(), Restore: o.Restore})
	if err != nil {
		return result, err
	}
	result.RestoredRevision = done.Revision
	return result, place.Finish(datadir.Marker{Order: o.ID, Restore: *o.Restore, Result: result})
}
