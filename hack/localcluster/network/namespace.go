// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// createNamespace creates a network namespace, and keeps it with a mount at path. It does not use `ip netns`, which
// leaves the directory /run/netns behind.
func createNamespace(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return onThrowawayThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("create a network namespace: %w", err)
		}
		if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("keep network namespace at %s: %w", path, err)
		}
		return nil
	})
}

// HostNamespace returns the path of a file that refers to this host's network namespace. Only machines that are
// launched after KeepHostNamespace can use this file.
func HostNamespace(st *state.State) string { return filepath.Join(st.NetNSDir(), "host") }

// KeepHostNamespace creates the file through which the control plane starts programs in this host's network. Nodes
// cannot see this file.
func KeepHostNamespace(st *state.State) error {
	path := HostNamespace(st)
	if err := state.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	// Do not use /proc/self: it refers to the process's first thread, and this thread may be in another namespace.
	if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("keep this host's network namespace at %s: %w", path, err)
	}
	return nil
}

// removeNamespace unmounts a network namespace. The kernel removes the namespace and its links when the last process in
// the namespace ends. It is no error if the namespace does not exist.
func removeNamespace(path string) error {
	err := unix.Unmount(path, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Inside runs f in the network namespace at path.
func Inside(path string, f func() error) error {
	return onThrowawayThread(func() error {
		if err := Enter(path); err != nil {
			return err
		}
		return f()
	})
}

// Enter moves the calling thread into the network namespace at path.
func Enter(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %s: %w", path, err)
	}
	return nil
}

// onThrowawayThread runs f on a new thread that stays locked to its goroutine. The Go runtime then ends the thread with
// the goroutine, so that no other code runs in the foreign namespace.
func onThrowawayThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		result <- f()
	}()
	return <-result
}
