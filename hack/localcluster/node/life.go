// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/proc"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Start boots a node, for the first time or after a crash, and saves the node's new state. The node's disk content is
// kept. If the node already runs, Start does nothing.
func Start(ctx context.Context, st *state.State, name string) error {
	n, err := st.Node(name)
	if err != nil || n.Init.Alive() {
		return err
	}
	// The old machine may have been killed only just now, so wait until all of its processes are gone.
	if err := machine.End(n.Machine); err != nil {
		return err
	}
	if err := connect(ctx, st, n); err != nil {
		return fmt.Errorf("network of %s: %w", name, err)
	}
	// A socket of the previous boot would make the kubelet start before containerd.
	if err := os.Remove(n.ContainerdSocket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if n.Init, err = machine.Launch(ctx, st, name); err != nil {
		return err
	}
	n.Cut = false
	if err := st.Save(); err != nil || !n.Systemd {
		return err
	}
	return AwaitSystem(ctx, st, name)
}

// connect creates the network of a node. A node with systemd connects itself at each boot, so here it only gets a
// namespace for its init, and is not cut off.
func connect(ctx context.Context, st *state.State, n *state.Node) error {
	if !n.Systemd {
		return network.CreateNode(ctx, st, *n)
	}
	if err := network.CreateNamespace(*n); err != nil || !n.Cut {
		return err
	}
	n.Cut = false
	return st.Save()
}

// Crash kills all processes of a node and removes its network, like a power cut.
func Crash(st *state.State, name string) error {
	n, err := st.Node(name)
	if err != nil {
		return err
	}
	if err := machine.End(n.Machine); err != nil {
		return err
	}
	if err := network.RemoveNode(*n); err != nil {
		return err
	}
	n.Init, n.Cut = proc.Identity{}, false
	return st.Save()
}

// Cut separates a running node from all other machines.
func Cut(ctx context.Context, st *state.State, name string) error {
	return setCut(ctx, st, name, true, network.Cut)
}

// Heal reconnects a node that Cut separated.
func Heal(ctx context.Context, st *state.State, name string) error {
	return setCut(ctx, st, name, false, network.Heal)
}

func setCut(ctx context.Context, st *state.State, name string, cut bool,
	change func(context.Context, *state.State, state.Node) error,
) error {
	n, err := st.Node(name)
	if err != nil {
		return err
	}
	if !n.Init.Alive() {
		return fmt.Errorf("%s is down; start it with `localcluster node start %s`", name, name)
	}
	if err := change(ctx, st, *n); err != nil {
		return err
	}
	n.Cut = cut
	return st.Save()
}

// AwaitRuntime waits until the node's containerd responds.
func AwaitRuntime(ctx context.Context, st *state.State, n state.Node) error {
	for {
		out, err := exec.CommandContext(ctx, "ctr", "--address", n.ContainerdSocket, "version").CombinedOutput()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("containerd of %s does not respond: %s\n%s", n.Name,
				strings.TrimSpace(string(out)), machine.LogTail(st, n.Name, "containerd", 10))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
