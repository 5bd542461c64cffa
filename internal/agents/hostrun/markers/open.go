// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package markers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const privateDir fs.FileMode = 0o700

// Open opens the directory, and creates it if it is missing. Only its owner may write there, because the agent would
// follow a symlink with root privileges.
func Open(dir string, now func() time.Time) (*Dir, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", dir)
	case !ownedByUs(info):
		return nil, fmt.Errorf("%s belongs to another user", dir)
	}
	if err := os.Chmod(dir, privateDir); err != nil && info.Mode().Perm() != privateDir {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &Dir{root: root, now: now}, err
}

// makeDir creates a directory and its parents, and syncs each of them, because a marker is lost if a power failure
// loses its directory.
func makeDir(dir string) error {
	parent := filepath.Dir(dir)
	err := os.Mkdir(dir, privateDir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, privateDir)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return syncDir(parent)
}

func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
