// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// CreateBridge creates the control plane's network namespace and the bridge for the nodes in it.
func CreateBridge(ctx context.Context, st *state.State) error {
	if err := createNamespace(st.ControlPlane.NetNS); err != nil {
		return err
	}
	return batch(ctx, st.ControlPlane.NetNS,
		"link set lo up",
		"link add "+bridge+" type bridge forward_delay 0",
		fmt.Sprintf("address add %v/%d dev %s", st.ControlPlane.Address, st.Network.Machines.Bits(), bridge),
		address6(st.ControlPlane.Address, bridge),
		"link set "+bridge+" up")
}

// RemoveBridge removes what CreateBridge created.
func RemoveBridge(st *state.State) error { return removeNamespace(st.ControlPlane.NetNS) }
