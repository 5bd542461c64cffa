// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exit is how the command ended.
type exit struct {
	status syscall.WaitStatus
	at     time.Time
}

// family is the command with all that it begins. Whatever loses its parent becomes a child
// of this process, so there is nothing left exactly when this process has no child.
type family struct {
	ended chan exit     // of the command itself
	empty chan struct{} // closed when nothing is left
}

// adopt makes this process the parent of what loses its own. It comes before the first fork.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	return nil
}

// watch takes leave of every child. Nothing else in this process may wait for one from now on.
func watch(command int) *family {
	f := &family{ended: make(chan exit, 1), empty: make(chan struct{})}
	go f.reap(command)
	return f
}

func (f *family) reap(command int) {
	defer close(f.empty)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid == command:
			f.ended <- exit{status, time.Now()}
		}
	}
}

// end asks all to end, and after the grace, or when there is a hurry, makes them. It tells
// how many there were and how many could not be ended.
func (f *family) end(hurry context.Context, grace time.Duration) (found, left int) {
	select {
	case <-f.empty:
		return 0, 0
	default:
	}
	found = signalAll(syscall.SIGTERM)
	select {
	case <-f.empty:
		return found, 0
	case <-hurry.Done():
	case <-time.After(grace):
	}
	if left = killAll(); left == 0 {
		within(killTime, f.empty) // who is dead may not have been taken leave of yet
	}
	return found, left
}
