// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// etc returns the folder on this machine with the files that a node has in its own /etc.
func etc(st *state.State, n state.Node) string {
	if n.Systemd {
		return filepath.Join(st.HostDir(n.Name), "etc")
	}
	return filepath.Join(st.MachineDir(n.Name), "overlay", "etc", "upper")
}

// containerdFile returns the path of containerd's configuration. On a node with systemd, Debian's unit of containerd
// reads the usual file.
func containerdFile(st *state.State, n state.Node) string {
	if n.Systemd {
		return filepath.Join(etc(st, n), "containerd/config.toml")
	}
	return filepath.Join(st.MachineDir(n.Name), "containerd.toml")
}

// answerTime is how long systemd may take to answer. A node that reboots while it starts never answers.
const answerTime = 5 * time.Second

// AwaitSystem waits until systemd has started all units of a node, or has given up on some of them.
func AwaitSystem(ctx context.Context, st *state.State, name string) error {
	for {
		out, err := systemState(ctx, st, name)
		lines := strings.Split(out, "\n")
		switch lines[len(lines)-1] {
		case "running":
			return nil
		case "degraded":
			failed, _ := machine.Output(ctx, st, name, "systemctl", "--failed", "--no-legend", "--plain")
			return fmt.Errorf("units of %s failed; see `localcluster node exec %s -- journalctl --unit UNIT`: %s", name, name, failed)
		}
		if n, err := st.Node(name); err != nil || !n.Init.Alive() {
			return fmt.Errorf("%s ended while it started:\n%s", name, machine.LogTail(st, name, machine.InitLog, 10))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("systemd of %s did not finish its start: %w: %s\n%w", name, ctx.Err(), out, err)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func systemState(ctx context.Context, st *state.State, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return machine.Output(ctx, st, name, "systemctl", "is-system-running")
}
