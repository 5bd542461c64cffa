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

// Open opens the directory with the markers, and creates it if it is missing. It requires that only the owner can write
// there, because the agent has root privileges and would follow a symlink.
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

// makeDir creates a directory and its parents, and syncs each of them to disk. If a power failure lost the directory,
// its markers would be lost, too.
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
