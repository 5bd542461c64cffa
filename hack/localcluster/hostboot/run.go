// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/kernelfiles"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// startTimeout limits the time from the end of a boot to the start of systemd in the next one.
const startTimeout = 30 * time.Second

// Run boots the operating system of a node, and boots it again after each reboot. It returns when the operating system
// powers off, and with an error if it ends in another way.
func Run(dir, name string) error {
	terminal, err := openConsole(dir, name)
	if err != nil {
		return err
	}
	for boots := 0; ; boots++ {
		cmd, err := bootOnce(dir, name, boots, terminal)
		if err != nil {
			return fmt.Errorf("boot %d of %s: %w", boots+1, name, err)
		}
		how := end(cmd.Wait())
		fmt.Fprintf(os.Stderr, "%s boot %d: %s\n", time.Now().Format(time.RFC3339), boots+1, how)
		switch how {
		case rebooted:
		case poweredOff:
			return nil
		default:
			return fmt.Errorf("the operating system of %s ended: %s; its console is in logs/console.log", name, how)
		}
	}
}

// bootOnce starts systemd and reports the new boot. It reads the state again for each boot, because a user may have cut
// the node off since.
func bootOnce(dir, name string, boots int, terminal *console) (*exec.Cmd, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	st, err := state.Load(dir)
	if err != nil {
		return nil, err
	}
	if err := cgroup.CreateHost(ctx, name); err != nil {
		return nil, err
	}
	bootID := kernelfiles.NewBootID()
	cmd, err := start(ctx, st, name, bootID, terminal)
	if err != nil {
		return nil, err
	}
	return cmd, report(st, name, boots, bootID, cmd.Process.Pid)
}

// report writes the status of the machine and the boot ID, which the node's kubelet reports too.
func report(st *state.State, name string, boots int, bootID string, pid int) error {
	status := machine.ServiceStatus{Name: "systemd", PID: pid, Restarts: boots}
	if boots > 0 {
		status.LastExit = rebooted
	}
	data, err := json.MarshalIndent([]machine.ServiceStatus{status}, "", "  ")
	if err != nil {
		return err
	}
	if err := state.WriteFile(st.BootIDFile(name), []byte(bootID), 0o644); err != nil {
		return err
	}
	return state.WriteFile(machine.StatusFile(st, name), data, 0o644)
}

const (
	rebooted   = "reboot"
	poweredOff = "power off"
)

// end returns how the operating system ended. After reboot(2) in a pid namespace, the kernel reports a signal: SIGHUP
// for a restart, and SIGINT for a halt (reboot(2), "Behavior inside PID namespaces").
func end(err error) string {
	var exit *exec.ExitError
	if err == nil {
		return "exit status 0"
	}
	if !errors.As(err, &exit) {
		return err.Error()
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && status.Signal() == syscall.SIGHUP:
		return rebooted
	case ok && status.Signaled() && status.Signal() == syscall.SIGINT:
		return poweredOff
	}
	return exit.Error()
}
