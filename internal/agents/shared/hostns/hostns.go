// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package hostns starts processes on the host of a privileged pod with hostPID, in the namespaces of process 1.
package hostns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// namespaces holds the open namespaces and the root directory of process 1 of the host.
type namespaces struct {
	names []string
	files []*os.File
	root  *os.File
}

// Start starts a process in the namespaces and the root directory of process 1 of the host. Only one thread
// enters them. That thread ends afterwards, because it is locked to a goroutine that ends. All other threads stay in
// the container.
func Start(proc string, cmd *exec.Cmd) error {
	host, err := openNamespaces(filepath.Join(proc, "1"))
	defer host.close()
	if err != nil {
		return err
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := host.enter(); err != nil {
			done <- err
			return
		}
		done <- cmd.Start()
	}()
	return <-done
}

// openNamespaces opens all namespaces before any is entered, because paths change their meaning afterwards. The mount
// namespace is entered last for the same reason.
func openNamespaces(first string) (*namespaces, error) {
	n := &namespaces{}
	if os.Getpid() == 1 {
		return n, errors.New("process 1 is this container's own process; the pod needs hostPID: true")
	}
	for _, name := range []string{"ipc", "uts", "net", "cgroup", "pid", "mnt"} {
		file, err := os.Open(filepath.Join(first, "ns", name))
		if errors.Is(err, fs.ErrNotExist) && name == "cgroup" {
			continue // kernels before 4.6 lack this namespace
		}
		if err != nil {
			return n, fmt.Errorf("open the namespaces of the host, which requires hostPID and a privileged container: %w", err)
		}
		n.names, n.files = append(n.names, name), append(n.files, file)
	}
	root, err := os.OpenFile(filepath.Join(first, "root"), unix.O_PATH|unix.O_DIRECTORY, 0)
	n.root = root
	return n, err
}

// enter moves this thread to the host, and with it the processes that it starts. It also changes the root directory,
// which can differ from the root of the mount namespace.
func (n *namespaces) enter() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("give the thread its own root directory: %w", err)
	}
	for i, file := range n.files {
		if err := unix.Setns(int(file.Fd()), 0); err != nil {
			return fmt.Errorf("enter the %s namespace of the host, which requires a privileged container: %w", n.names[i], err)
		}
	}
	if err := unix.Fchdir(int(n.root.Fd())); err != nil {
		return fmt.Errorf("enter the root directory of the host: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("enter the root directory of the host: %w", err)
	}
	return nil
}

func (n *namespaces) close() {
	for _, file := range append(n.files, n.root) {
		if file != nil {
			file.Close()
		}
	}
}
