// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Lock makes sure that only one command at a time changes the cluster. It locks the state directory itself, so there is
// no lock file to remove, and the kernel frees the lock when the process ends. If another command holds the lock, Lock
// calls waiting once, and then waits.
func Lock(ctx context.Context, dir string, waiting func()) (unlock func(), err error) {
	reported := false
	for {
		file, err := tryLock(dir)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		if !reported {
			waiting()
			reported = true
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another localcluster command still holds %s: %w", dir, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// tryLock tries to lock the state directory. It also returns EWOULDBLOCK if the directory was replaced after tryLock
// opened it, because `localcluster down` removes the directory while other commands wait.
func tryLock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, err
	}
	if !isStill(file, dir) {
		_ = file.Close()
		return nil, syscall.EWOULDBLOCK
	}
	return file, nil
}

func isStill(file *os.File, dir string) bool {
	locked, err := file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(dir)
	return err == nil && os.SameFile(locked, now)
}
