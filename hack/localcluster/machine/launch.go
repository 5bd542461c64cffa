// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/proc"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Program is the name of this binary in the cluster's folder of binaries.
const Program = "localcluster"

// EnterCommand and InitCommand are hidden subcommands. localcluster executes itself with each of them, one after the
// other, to become the init of a machine.
const (
	EnterCommand = "machine-enter"
	InitCommand  = "machine-init"
	// HostCommand is the subcommand that the init of a node with systemd executes to become systemd.
	HostCommand = "machine-host"
)

const bootTimeout = 20 * time.Second

// Launch starts the init of a machine in new namespaces and waits until it has booted. The network namespace must
// exist. The caller must save the returned identity.
func Launch(ctx context.Context, st *state.State, machine string) (proc.Identity, error) {
	if err := cgroup.Create(machine); err != nil {
		return proc.Identity{}, err
	}
	if err := os.Remove(StatusFile(st, machine)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return proc.Identity{}, err
	}
	pid, ended, err := startInit(st, machine)
	if err != nil {
		return proc.Identity{}, fmt.Errorf("start machine %s: %w", machine, err)
	}
	id, err := proc.Of(pid)
	if err == nil {
		err = awaitBoot(ctx, st, machine, ended)
	}
	if err != nil {
		return id, fmt.Errorf("machine %s did not boot: %w\n%s", machine, err, LogTail(st, machine, InitLog, 10))
	}
	return id, nil
}

// startInit returns the pid of the init, and a channel that reports the end of the init. The channel is necessary
// because an init that executes itself again looks like a zombie in /proc.
//
// startInit creates all namespaces except the network namespace. The new process enters the network namespace and its
// cgroup before it becomes the init. So nothing on the machine ever runs outside them.
func startInit(st *state.State, machine string) (pid int, ended <-chan error, err error) {
	path := st.LogFile(machine, InitLog)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, nil, err
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(st.Binary(Program), EnterCommand, st.Dir, machine)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + Path}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	return cmd.Process.Pid, end, nil
}

// Path is the PATH environment variable of processes on machines.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func awaitBoot(ctx context.Context, st *state.State, machine string, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	for {
		if _, err := os.Stat(StatusFile(st, machine)); err == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the init of the machine ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("the init of the machine did not report that it has booted: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
