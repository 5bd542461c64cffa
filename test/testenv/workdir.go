// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	workDirPrefix = "opcrew-testenv-"

	// keepFor is how long the directory of a crashed test run is kept.
	keepFor = time.Hour
)

// workDir is the directory with all files of one environment: keys, logs and etcd's data. Its name contains the pid of
// the test binary, so that a later run can find out whether this test binary still runs.
type workDir struct{ path string }

func newWorkDir() (*workDir, error) {
	sweep(os.TempDir(), time.Now().Add(-keepFor))
	path, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", workDirPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("making the environment's directory: %w", err)
	}
	return &workDir{path: path}, nil
}

// close removes the directory. If tests have failed, it removes only etcd's data, which is large and does not help to
// find the cause.
func (d *workDir) close(failed bool) error {
	path := d.path
	if failed {
		path = filepath.Join(d.path, "etcd")
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("removing the environment's files: %w", err)
	}
	return nil
}

// sweep removes the directories of test binaries that no longer run. A test binary that panicked or was killed could
// not remove its directory.
func sweep(parent string, before time.Time) {
	left, err := filepath.Glob(filepath.Join(parent, workDirPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		info, err := os.Stat(dir)
		if err == nil && info.ModTime().Before(before) && !alive(ownerOf(dir)) {
			_ = os.RemoveAll(dir) // fails for the directory of another user, which is no problem
		}
	}
}

func ownerOf(dir string) int {
	pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), workDirPrefix), "-")
	owner, err := strconv.Atoi(pid)
	if err != nil {
		return 0
	}
	return owner
}

func alive(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
