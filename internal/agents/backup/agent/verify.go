// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// verify downloads a backup, starts etcd with it, and stores the result in the record of the backup.
func (a *Agent) verify(ctx context.Context, s *catalog, v backup.Verify) (backup.Result, error) {
	i, m, err := s.pick(ctx, v.Object, a.Clock.Now())
	if err != nil {
		return backup.Result{}, err
	}
	result := s.describe(i, m)
	a.Log.Info("Verifying", "object", result.Object, "size", i.size)
	result.Verification, err = a.proof(ctx, s, i, m, v.ScratchDir)
	if ctx.Err() != nil {
		return result, err
	}
	switch unnoted := a.note(ctx, s, i, m, err); {
	case unnoted != nil && err != nil:
		err = fmt.Errorf("%w; this result could not be recorded, so the backup still counts as good: %w", err, unnoted)
	case unnoted != nil:
		result.Reason, result.Message = backup.ReasonNotRecorded, fmt.Sprintf("the result of the verification could not be recorded: %s", unnoted)
	}
	return result, err
}

func (a *Agent) proof(ctx context.Context, s *catalog, i item, m *backup.Meta, scratchDir string) (*backup.Verification, error) {
	dir, err := os.MkdirTemp(scratchDir, "verify-")
	if err != nil {
		return nil, scratch(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "snapshot.db")
	if err := s.fetch(ctx, i, m, path); err != nil {
		return nil, err
	}
	done, err := a.DataDir(ctx, datadir.Job{Snapshot: path, Dir: filepath.Join(dir, "data"), Meta: m})
	return done.Verification, err
}

// note stores the result of a verification in the backup's record (a JSON object next to it), so that a corrupt backup
// no longer counts as good.
func (a *Agent) note(ctx context.Context, s *catalog, i item, m *backup.Meta, found error) error {
	verified := finding(found, a.Clock.Now().UTC())
	if verified == nil {
		return nil
	}
	now, err := s.meta(ctx, i)
	if err != nil || now == nil || m == nil || now.SHA256 != m.SHA256 {
		return err // the backup has no record, or was replaced during the verification
	}
	now.Verified = verified
	return s.putMeta(ctx, i.key, *now)
}

// finding returns the result of a verification, to be stored in the backup's record; nil if the verification was
// inconclusive.
func finding(found error, at time.Time) *backup.Verified {
	switch reason := backup.ReasonOf(found, ""); {
	case found == nil:
		return &backup.Verified{At: at}
	case reason == backup.ReasonCorrupt, reason == backup.ReasonNotRestorable:
		return &backup.Verified{At: at, Corrupt: found.Error()}
	}
	return nil
}
