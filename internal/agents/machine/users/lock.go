// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package users

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// LockFile is the file that passwd and useradd lock while they change /etc/shadow.
	LockFile = "/etc/.pwd.lock"
	lockTime = 15 * time.Second
	lockStep = 100 * time.Millisecond
)

// Lock waits for the lock of the files with users, and returns a function that releases it.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = unix.Close(fd) }
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := wait(ctx, fd, path); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

func wait(ctx context.Context, fd int, path string) error {
	for {
		// The lock belongs to the descriptor: one of the process would end when any descriptor of the file is closed.
		err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another program has held the lock %s for more than %s", path, lockTime)
		case <-time.After(lockStep):
		}
	}
}
