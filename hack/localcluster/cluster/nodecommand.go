// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/node"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

func newNode() *cobra.Command {
	command := &cobra.Command{
		Use:   "node",
		Short: "Crash, start or reboot nodes, disconnect or reconnect them, and run commands on them",
		Args:  cobra.NoArgs,
	}
	crash := func(_ context.Context, st *state.State, name string) error { return node.Crash(st, name) }
	command.AddCommand(
		newNodeAction("crash", "Kill all processes of a node with SIGKILL, like a power cut", crash),
		newNodeAction("start", "Start a crashed node; the data on its disk is kept", node.Start),
		newNodeAction("cut", "Disconnect a node from the network; its processes continue to run", node.Cut),
		newNodeAction("heal", "Reconnect a node that was disconnected with cut", node.Heal),
		newNodeReboot(), newNodeRoot(), newNodeExec(),
	)
	return command
}

const actionTimeout = 3 * time.Minute // systemd waits up to 90 seconds for a unit that does not stop

func newNodeAction(name, short string, act func(context.Context, *state.State, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " NODE",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return onNode(command, args[0], act)
		},
	}
}

func onNode(command *cobra.Command, name string, act func(context.Context, *state.State, string) error) error {
	if err := privileged(); err != nil {
		return err
	}
	if _, err := Load(); err != nil { // must run before Lock, which creates the directory
		return err
	}
	ctx, cancel := context.WithTimeout(command.Context(), actionTimeout)
	defer cancel()
	unlock, err := lock(ctx, state.DefaultDir, newProgress(command.ErrOrStderr()))
	if err != nil {
		return err
	}
	defer unlock()
	st, err := Load()
	if err != nil {
		return err
	}
	return act(ctx, st, name)
}

func newNodeReboot() *cobra.Command {
	var force bool
	command := &cobra.Command{
		Use:   "reboot NODE",
		Short: "Reboot a node; the data on its disk is kept, and it gets a new boot ID",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return onNode(command, args[0], func(ctx context.Context, st *state.State, name string) error {
				return node.Reboot(ctx, st, name, force)
			})
		},
	}
	command.Flags().BoolVar(&force, "force", false, "call reboot(2) at once, before systemd stops the units")
	return command
}

func newNodeRoot() *cobra.Command {
	return &cobra.Command{
		Use:   "root NODE",
		Short: "Print the folder with the disk of a node with systemd",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			st, err := Load()
			if err != nil {
				return err
			}
			n, err := st.Node(args[0])
			if err != nil {
				return err
			}
			if !n.Systemd {
				return fmt.Errorf("%s has no disk of its own; start the cluster with `localcluster up --systemd`", n.Name)
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), st.HostDir(n.Name))
			return err
		},
	}
}

func newNodeExec() *cobra.Command {
	return &cobra.Command{
		Use:     "exec NODE -- COMMAND...",
		Short:   "Run a command on a node outside of its pods",
		Example: "  localcluster node exec node1 -- hostname",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return execOn(command.Context(), args[0], args[1:])
		},
	}
}

func execOn(ctx context.Context, name string, argv []string) error {
	if err := privileged(); err != nil {
		return err
	}
	st, err := Load()
	if err != nil {
		return err
	}
	if _, err := st.Node(name); err != nil {
		return err
	}
	cmd, err := machine.Command(ctx, st, name, argv...)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
