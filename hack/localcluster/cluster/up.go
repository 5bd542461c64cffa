// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Options configures Up.
type Options struct {
	Dir           string
	Binaries      string // folder from which `localcluster up` copies the cluster's binaries
	Nodes         int    // 0 means three nodes in a new cluster, and the current number in an existing one
	Systemd       bool   // whether nodes of a new cluster have an operating system of their own
	KubeconfigOut string // path for a copy of the kubeconfig; empty for no copy
	Out           io.Writer
}

const defaultNodes = 3

// Up starts the cluster. If the cluster already runs, Up only starts nodes that are down and replaces what is broken or
// incomplete.
func Up(ctx context.Context, o Options) error {
	if err := privileged(); err != nil {
		return err
	}
	p := newProgress(o.Out)
	unlock, err := lock(ctx, o.Dir, p)
	if err != nil {
		return err
	}
	defer unlock()
	// If nothing was started, the directory is empty. os.Remove removes it only then.
	defer func() { _ = os.Remove(o.Dir) }()
	st, err := state.Load(o.Dir)
	if err == nil && st.Complete && st.ControlPlane.Init.Alive() {
		return resume(ctx, st, o, p)
	}
	return create(ctx, o, p)
}

const lockTimeout = 5 * time.Minute

func lock(ctx context.Context, dir string, p *progress) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return state.Lock(ctx, dir, func() { p.say("waiting for another localcluster command to end") })
}

// resume starts the missing nodes of a running cluster. The cluster may have been started by another user.
func resume(ctx context.Context, st *state.State, o Options, p *progress) error {
	if o.Nodes != 0 && o.Nodes != len(st.Nodes) {
		return fmt.Errorf("a cluster with %d nodes already runs; to start one with %d nodes, run `localcluster down` first", len(st.Nodes), o.Nodes)
	}
	if err := sameSystem(st, o.Systemd); err != nil {
		return err
	}
	if err := p.run(ctx, resumeSteps(st)...); err != nil {
		return fmt.Errorf("%w; if this error persists, run `localcluster down` and then `localcluster up`", err)
	}
	if err := shareKubeconfig(st, o.KubeconfigOut); err != nil {
		return err
	}
	p.say("the cluster with %d nodes runs (started at %s from %s)",
		len(st.Nodes), st.StartedAt.Format(time.DateTime), st.StartedFrom)
	return nil
}

// create removes the leftovers of an old cluster and starts a new one.
func create(ctx context.Context, o Options, p *progress) error {
	st, err := plan(o)
	if err != nil {
		return err
	}
	if err := p.run(ctx, createSteps(st, o, p)...); err != nil {
		return err
	}
	st.Complete = true
	if err := shareKubeconfig(st, o.KubeconfigOut); err != nil {
		return err
	}
	p.say("%d nodes are Ready after %v", len(st.Nodes), p.total())
	return nil
}

// plan chooses the names and addresses of a new cluster. It starts and writes nothing.
func plan(o Options) (*state.State, error) {
	from, err := os.Getwd()
	if err != nil {
		from = "an unknown directory"
	}
	st := &state.State{Dir: o.Dir, StartedFrom: from, StartedAt: time.Now(), Network: network.Plan()}
	st.ControlPlane = newMachine(st, state.ControlPlaneName, network.ControlPlane(st.Network))
	count := o.Nodes
	if count == 0 {
		count = defaultNodes
	}
	if count < 1 {
		return nil, errors.New("a cluster needs at least one node; use --nodes 1 or more")
	}
	for i := range count {
		address, pods, err := network.Node(st.Network, i)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("node%d", i+1)
		st.Nodes = append(st.Nodes, state.Node{
			Machine:          newMachine(st, name, address),
			PodCIDR:          pods,
			Systemd:          o.Systemd,
			ContainerdSocket: filepath.Join(st.MachineDir(name), "containerd.sock"),
		})
	}
	return st, nil
}

func newMachine(st *state.State, name string, address netip.Addr) state.Machine {
	return state.Machine{Name: name, Address: address, NetNS: filepath.Join(st.NetNSDir(), name)}
}
