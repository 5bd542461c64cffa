// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// With these modes, the owner and the group of a file can read it; other users cannot.
const (
	fileMode   fs.FileMode = 0o640
	folderMode fs.FileMode = 0o750
)

// folder is a directory on a mounted volume. It does not use gocloud.dev, which does not sync files to disk.
type folder struct{ dir string }

func (f folder) path(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

func (f folder) Put(ctx context.Context, key string, content io.Reader) error {
	from := &source{Reader: bounded{ctx, content}}
	err := f.prepare(filepath.Dir(f.path(key)))
	if err == nil {
		err = durable.Replace(f.path(key), from, fileMode)
	}
	if from.err != nil {
		return from.err
	}
	return f.explain(err, key)
}

// prepare creates the directories of a path, and syncs them to disk.
func (f folder) prepare(dir string) error {
	if _, err := os.Stat(f.dir); err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := f.prepare(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(dir))
}

func (f folder) Get(_ context.Context, key string) (io.ReadCloser, int64, error) {
	file, err := os.Open(f.path(key))
	if err != nil {
		return nil, 0, f.explain(err, key)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		file.Close()
		return nil, 0, f.explain(err, key)
	}
	return file, info.Size(), nil
}

func (f folder) List(_ context.Context, prefix string) ([]Object, error) {
	dir, base := "", prefix
	if i := strings.LastIndex(prefix, "/"); i >= 0 {
		dir, base = prefix[:i+1], prefix[i+1:]
	}
	entries, err := os.ReadDir(f.path(dir))
	if errors.Is(err, fs.ErrNotExist) && f.missing() == nil {
		return nil, nil
	}
	if err != nil {
		return nil, f.explain(err, prefix)
	}
	var out []Object
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(entry.Name(), base) {
			out = append(out, Object{Key: dir + entry.Name(), Size: info.Size()})
		}
	}
	return out, nil
}

func (f folder) Delete(_ context.Context, key string) error {
	err := os.Remove(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return f.missing()
	}
	return f.explain(err, key)
}

func (folder) Close() error { return nil }

func (f folder) missing() error {
	if _, err := os.Stat(f.dir); err != nil {
		return backup.Fail(backup.ReasonBucketMissing, "the folder %s does not exist; check that its volume is mounted (%w)", f.dir, err)
	}
	return nil
}

func (f folder) explain(err error, key string) error {
	if err == nil {
		return nil
	}
	if missing := f.missing(); missing != nil {
		return missing
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return backup.Fail(backup.ReasonDiskFull, "the volume of %s is full, so %q cannot be stored: %w", f.dir, key, err)
	case errors.Is(err, fs.ErrNotExist):
		return backup.Fail(backup.ReasonObjectMissing, "the object %q does not exist in %s", key, f.dir)
	case errors.Is(err, fs.ErrPermission):
		return backup.Fail(backup.ReasonAccessDenied, "the volume of %s refuses access by user ID %d: %w", f.dir, os.Getuid(), err)
	}
	return backup.Fail(backup.ReasonStoreFailed, "access to the volume of %s failed: %w", f.dir, err)
}

// bounded is a reader that fails when its context ends.
type bounded struct {
	ctx context.Context
	r   io.Reader
}

func (b bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.r.Read(p)
}
