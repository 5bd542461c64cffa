// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package tree handles the processes of a command, which are all descendants of the calling process. It reaps, signals
// and kills them. It does not start the command.
package tree

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Exit describes how the command itself ended, and when.
type Exit struct {
	Status syscall.WaitStatus
	At     time.Time
}

// Family is the command and all processes that it starts. Orphaned processes become children of this process. So the
// family has ended exactly when this process has no child left.
type Family struct {
	Ended chan Exit     // how the command itself ended
	Empty chan struct{} // closed when all processes have ended
}

// Adopt makes this process the parent of orphaned descendants. Call it before the first fork.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphaned processes: %w", err)
	}
	return nil
}

// Watch reaps every child of this process. After this call, no other code in this process may wait for a child.
func Watch(command int) *Family {
	f := &Family{Ended: make(chan Exit, 1), Empty: make(chan struct{})}
	go f.reap(command)
	return f
}

func (f *Family) reap(command int) {
	defer close(f.Empty)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid == command:
			f.Ended <- Exit{status, time.Now()}
		}
	}
}

// End sends SIGTERM to all processes, and kills them after the grace period or when hurry is done. It returns how many
// processes there were, and how many could not be killed.
func (f *Family) End(hurry context.Context, grace time.Duration) (found, left int) {
	select {
	case <-f.Empty:
		return 0, 0
	default:
	}
	found = signalAll(syscall.SIGTERM)
	select {
	case <-f.Empty:
		return found, 0
	case <-hurry.Done():
	case <-time.After(grace):
	}
	if left = KillAll(); left == 0 {
		select { // dead processes may not have been reaped yet
		case <-f.Empty:
		case <-time.After(killTime):
		}
	}
	return found, left
}
