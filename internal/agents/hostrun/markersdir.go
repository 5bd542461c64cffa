// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

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

// openMarkers makes the directory if need be. No one but its owner may be able to put
// anything into it: a symlink in there would be followed with all rights.
func openMarkers(dir string, now func() time.Time) (*markers, error) {
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
		return nil, fmt.Errorf("%s belongs to somebody else", dir)
	}
	if err := os.Chmod(dir, privateDir); err != nil && info.Mode().Perm() != privateDir {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &markers{root: root, now: now}, err
}

// makeDir makes a directory and those above it, each on the disk: after a power cut a
// marker is no use in a directory that is gone.
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
