// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/hack/localcluster/hostos"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// installSystems gives each node an operating system on its disk.
func installSystems(ctx context.Context, st *state.State) error {
	tarFile, err := hostos.Make(ctx)
	if err != nil {
		return err
	}
	for _, n := range st.Nodes {
		if err := hostos.Install(ctx, tarFile, st.HostDir(n.Name)); err != nil {
			return fmt.Errorf("operating system of %s: %w", n.Name, err)
		}
	}
	return nil
}

// sameSystem returns an error if the nodes of the running cluster are of another sort than the user asks for.
func sameSystem(st *state.State, systemd bool) error {
	if systemd && !st.Nodes[0].Systemd {
		return errors.New("a cluster whose nodes have no systemd already runs; to start one with --systemd, run `localcluster down` first")
	}
	return nil
}
