// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const logSuffix = ".wal"

// hasLog reports whether etcd's data directory contains a log: a non-empty file with the log suffix. An unreadable
// directory is an error, although etcd itself would treat it as empty. docs/design/etcd.md describes how etcd creates
// the log.
func hasLog(dataDir string) (bool, error) {
	dir := filepath.Join(dataDir, "member", "wal")
	if there, err := exists(dataDir, filepath.Join(dataDir, "member"), dir); !there {
		return false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("read the log directory of etcd: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), logSuffix) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return false, fmt.Errorf("check the log files of etcd: %w", err)
		}
		if info.Mode().IsRegular() && info.Size() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// exists reports whether all paths exist. It does not follow symlinks: a link to a volume that is not mounted must not
// look like an empty directory.
func exists(paths ...string) (bool, error) {
	for _, path := range paths {
		_, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("search for the log of etcd: %w", err)
		}
	}
	return true, nil
}
