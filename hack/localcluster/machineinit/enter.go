// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/hostboot"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Commands returns the hidden subcommands with which localcluster executes itself to become an init.
func Commands() []*cobra.Command {
	enter := &cobra.Command{
		Use: machine.EnterCommand + " DIR MACHINE", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return enter(args[0], args[1]) },
	}
	run := &cobra.Command{
		Use: machine.InitCommand + " DIR MACHINE", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return run(args[0], args[1]) },
	}
	return append(hostboot.Commands(), enter, run)
}

// enter enters the machine's cgroup and network namespace, and then executes the init. It locks the thread, because a
// network namespace belongs to a thread, and execve keeps only the calling thread.
func enter(dir, name string) error {
	st, m, err := load(dir, name)
	if err != nil {
		return err
	}
	if err := cgroup.Join(name); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := network.Enter(m.NetNS); err != nil {
		return err
	}
	program := st.Binary(machine.Program)
	return syscall.Exec(program, []string{program, machine.InitCommand, dir, name}, os.Environ())
}

func load(dir, name string) (*state.State, state.Machine, error) {
	st, err := state.Load(dir)
	if err != nil {
		return nil, state.Machine{}, err
	}
	for _, m := range st.Machines() {
		if m.Name == name {
			return st, m, nil
		}
	}
	return nil, state.Machine{}, fmt.Errorf("no machine %q in %s", name, dir)
}

// run runs the init. It exits by itself only if the operating system of a node with systemd powers off or fails.
func run(dir, name string) error {
	st, _, err := load(dir, name)
	if err != nil {
		return err
	}
	if err := boot(st, name); err != nil {
		return fmt.Errorf("boot %s: %w", name, err)
	}
	// Only SIGKILL may end a machine. Catch other signals and drop them. If the init ignored them instead, every
	// process that it starts would ignore them too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGHUP)
	if st.Systemd(name) {
		return hostboot.Run(dir, name)
	}
	newSupervisor(st, name).run()
	return nil
}
