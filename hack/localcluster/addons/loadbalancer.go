// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"github.com/opcrew/opcrew/hack/localcluster/addons/loadbalancer"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// loadBalancer assigns Services addresses that this host can reach. Its process is a hidden subcommand of localcluster.
func loadBalancer(st *state.State) addon {
	const name = "loadbalancer"
	return addon{
		name: name,
		args: []string{
			st.Binary(machine.Program), loadbalancer.CommandName,
			"--kubeconfig", kubeconfig(st, name),
			"--pool", st.Network.LoadBalancers.String(),
		},
	}
}
