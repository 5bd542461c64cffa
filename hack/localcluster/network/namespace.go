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

// createNamespace makes a network namespace that lives as long as a file that
// it is mounted on. `ip netns` is not used: it leaves /run/netns behind.
func createNamespace(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return onThrowawayThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("new network namespace: %w", err)
		}
		if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("keep network namespace at %s: %w", path, err)
		}
		return nil
	})
}

// HostNamespace is the file that keeps this host's own network namespace for machines that are launched after
// KeepHostNamespace.
func HostNamespace(st *state.State) string { return filepath.Join(st.NetNSDir(), "host") }

// KeepHostNamespace lets the control plane start programs in this host's network. Nodes do not see the file.
func KeepHostNamespace(st *state.State) error {
	path := HostNamespace(st)
	if err := state.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	// Not /proc/self, which is the first thread: that may have been in a namespace and wait there for the end.
	if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("keep this host's network namespace at %s: %w", path, err)
	}
	return nil
}

// removeNamespace lets go of it; the kernel ends it, with its links, when the
// last process in it has ended. That it is absent is not an error.
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

// Inside runs f in a network namespace.
func Inside(path string, f func() error) error {
	return onThrowawayThread(func() error {
		if err := Enter(path); err != nil {
			return err
		}
		return f()
	})
}

// Enter moves the calling thread into a network namespace.
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

// onThrowawayThread never unlocks the thread, so that the runtime ends it with
// the goroutine and nothing else runs in a foreign namespace.
func onThrowawayThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		result <- f()
	}()
	return <-result
}
