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

// hasLog reports whether etcd's data directory holds the log of a member.
//
// The log is what a member is: its votes, and the entries that it has acknowledged. etcd makes
// member/snap and member/snap/db first. It then makes the log as member/wal.tmp, syncs it, has
// it renamed to member/wal and syncs that, and only after this does it talk to other members.
// So all of the following have neither voted nor acknowledged anything, and are no log:
// directories without member, snap/db without wal, and wal.tmp; etcd begins again with each of
// them. A member that did have a log and is found like that has lost it, as one with an empty
// directory has.
//
// Only what etcd takes for a log counts, which is files with its suffix: with anything else
// in member/wal, such as a .tmp or a .broken, etcd would begin again, under the protection of
// a log that it does not see. Of those files one has to have content. A file system that was
// repaired can leave them empty, and then nothing is left of the log. etcd refuses to start
// from these by itself.
//
// What cannot be read is an error, never taken for empty, which is what etcd does.
func hasLog(dataDir string) (bool, error) {
	dir := filepath.Join(dataDir, "member", "wal")
	if there, err := exists(dataDir, filepath.Join(dataDir, "member"), dir); !there {
		return false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("read the directory of the log: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), logSuffix) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return false, fmt.Errorf("look at the log: %w", err)
		}
		if info.Mode().IsRegular() && info.Size() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// exists looks at each path itself, and not at what it may link to: a link to a volume that
// is not mounted is no empty directory.
func exists(paths ...string) (bool, error) {
	for _, path := range paths {
		_, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("look for the log: %w", err)
		}
	}
	return true, nil
}
