// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/backup/snapshot"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// fetch downloads an object into a file, and checks that the object matches its record (size and hash).
func (s *catalog) fetch(ctx context.Context, i item, m *backup.Meta, path string) error {
	object := s.bucket + i.key
	if m != nil && m.Size != i.size {
		return backup.Fail(backup.ReasonCorrupt, "%q has %d bytes, but %d were saved", object, i.size, m.Size)
	}
	from, _, err := s.Get(ctx, i.key)
	if err != nil {
		return err
	}
	defer from.Close()
	checked := snapshot.Check(stoppable{ctx, from})
	err = copyTo(path, checked)
	switch {
	case errors.Is(err, snapshot.ErrBroken):
		return backup.Fail(backup.ReasonCorrupt, "%q is corrupt: %w", object, err)
	case err != nil:
		return err
	case m != nil && m.SHA256 != checked.SHA256():
		return backup.Fail(backup.ReasonCorrupt, "%q is a complete snapshot, but not the one that was saved: its SHA-256 is %s instead of %s", object, checked.SHA256(), m.SHA256)
	}
	return nil
}

func copyTo(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return scratch(err)
	}
	to := &scratchFile{file: file}
	_, err = io.Copy(to, from)
	if closed := file.Close(); err == nil && closed != nil {
		err = scratch(closed)
	}
	return err
}

// scratchFile adds a reason code to errors of writing the file. Errors of reading the object already have a reason
// code.
type scratchFile struct{ file *os.File }

func (f *scratchFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	return n, scratch(err)
}

func scratch(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return backup.Fail(backup.ReasonDiskFull, "the volume for the snapshot is full: %w", err)
	}
	return backup.Fail(backup.ReasonVolumeFailed, "the volume for the snapshot cannot be used: %w", err)
}

// stoppable is a reader that fails when its context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p)
}
