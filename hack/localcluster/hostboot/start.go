// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Commands returns the hidden subcommand with which localcluster executes itself in the namespaces of a boot.
func Commands() []*cobra.Command {
	return []*cobra.Command{{
		Use: machine.HostCommand + " DIR NODE BOOT-ID CONSOLE", Hidden: true, Args: cobra.ExactArgs(4),
		RunE: func(_ *cobra.Command, args []string) error { return become(args[0], args[1], args[2], args[3]) },
	}}
}

// start starts a process in new namespaces, connects its network namespace, and lets it become systemd. The links must
// exist first, because systemd sets sysctls of links at its start.
func start(ctx context.Context, st *state.State, name, bootID string, terminal *console) (*exec.Cmd, error) {
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer p.close()
	cmd := exec.Command(st.Binary(machine.Program), machine.HostCommand, st.Dir, name, bootID, terminal.slave)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + machine.Path}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = p.inherited()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWNET,
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err = connect(ctx, st, name, cmd.Process.Pid)
	if err == nil {
		err = p.release()
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return cmd, nil
}

// connect gives the boot a new link to the cluster. A node that a user cut off stays cut off.
func connect(ctx context.Context, st *state.State, name string, pid int) error {
	n, err := st.Node(name)
	if err != nil {
		return err
	}
	namespace := filepath.Join("/proc", fmt.Sprint(pid), "ns", "net")
	if err := network.Connect(ctx, st, *n, namespace); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if n.Cut {
		return network.Cut(ctx, st, *n)
	}
	return nil
}
