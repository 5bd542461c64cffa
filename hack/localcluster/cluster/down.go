// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Down removes the cluster and everything that belongs to it from this machine. The cluster may be running, incomplete
// or absent.
func Down(ctx context.Context, dir string, out io.Writer) error {
	if err := privileged(); err != nil {
		return err
	}
	p := newProgress(out)
	unlock, err := lock(ctx, dir, p)
	if err != nil {
		return err
	}
	defer unlock()
	return p.run(ctx, step{"remove the cluster", 2 * time.Minute, func(ctx context.Context) error {
		withdrawKubeconfigs(dir)
		if err := clean(ctx, dir); err != nil {
			return err
		}
		return os.Remove(dir)
	}})
}

// shareKubeconfig copies the kubeconfig to path, and saves that in the record.
func shareKubeconfig(st *state.State, path string) error {
	if path == "" {
		return st.Save()
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(st.Kubeconfig())
	if err != nil {
		return err
	}
	if err := state.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return st.AddKubeconfig(path)
}

// withdrawKubeconfigs removes the copies of the kubeconfig that have not been changed. A copy that cannot be read or
// removed is left behind, which is harmless.
func withdrawKubeconfigs(dir string) {
	st, err := state.Load(dir)
	if err != nil {
		return
	}
	ours, err := os.ReadFile(st.Kubeconfig())
	if err != nil {
		return
	}
	for _, path := range st.Kubeconfigs {
		if data, err := os.ReadFile(path); err == nil && string(data) == string(ours) {
			_ = os.Remove(path)
		}
	}
}

var errNotRunning = errors.New("the local cluster does not run; start it with `up`")

// load reads the record of a running cluster.
func load(dir string) (*state.State, error) {
	st, err := state.Load(dir)
	if err != nil {
		return nil, err
	}
	if !st.ControlPlane.Init.Alive() {
		return nil, errNotRunning
	}
	return st, nil
}
