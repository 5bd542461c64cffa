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

// Down removes the cluster and everything that belongs to it from this machine. It works for a running, an incomplete
// and an absent cluster.
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

// shareKubeconfig copies the kubeconfig to path, and adds path to the record in state.json, so that Down can remove the
// copy.
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

// withdrawKubeconfigs removes the copies of the kubeconfig that users have not changed. It ignores a copy that cannot
// be read or removed, because without a cluster the copy is harmless.
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

var errNotRunning = errors.New("the local cluster does not run; start it with `localcluster up`")

// load reads state.json, the record of a running cluster. It returns an error if no cluster runs.
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
