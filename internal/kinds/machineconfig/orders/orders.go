// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package orders writes the order to the machine agent: the configuration, what its change requires, and the peers with
// which the agent tests its contact. It has no side effects.
package orders

import (
	"cmp"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/changes"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Config is a configuration as it was delivered.
type Config struct {
	hostconfig.Config
	Digest string
	// Secret are the paths whose contents come from Secrets of users.
	Secret map[string]bool
}

// Required returns what a change requires. from are the configurations that the host may have: several after a failed
// change. A configuration that no longer exists (nil) requires a reboot, because its difference is unknown.
func Required(from []*Config, to *Config, policy *mcfgv1.NodeDisruptionPolicy) changes.Steps {
	var all []changes.Change
	for _, config := range from {
		if config == nil {
			return changes.Steps{{Type: mcfgv1.ActionReboot}}
		}
		all = append(all, changes.Diff(config.Config, to.Config, changes.SHA256)...)
	}
	return changes.Required(all, changes.NewPolicy(policy))
}

// New returns an order.
func New(to *Config, steps changes.Steps, skipDrain bool, drift mcfgv1.DriftPolicy, peers []machineorder.Peer) machineorder.Order {
	out := machineorder.Order{Config: to.Name, Digest: to.Digest, SkipDrain: skipDrain, Drift: machineorder.Policy(drift), Peers: peers}
	for _, s := range steps {
		out.Actions = append(out.Actions, machineorder.Action{Type: machineorder.ActionType(s.Type), Unit: s.Unit})
	}
	return out
}

// Check returns why no order can name these steps, whatever the node is.
func Check(to *Config, steps changes.Steps) error {
	_, err := machineorder.EncodeOrder(New(to, steps, false, "", nil))
	return err
}

// kubeletPort is the port of a kubelet that does not publish another one.
const kubeletPort = 10250

// Peers returns the nodes that follow a node by name, the last one being followed by the first.
func Peers(node string, all []*corev1.Node) []machineorder.Peer {
	others := slices.DeleteFunc(slices.Clone(all), func(n *corev1.Node) bool { return n.Name == node || address(n) == "" })
	slices.SortFunc(others, func(a, b *corev1.Node) int {
		return cmp.Or(cmp.Compare(turn(a.Name, node), turn(b.Name, node)), cmp.Compare(a.Name, b.Name))
	})
	var out []machineorder.Peer
	for _, n := range others[:min(len(others), machineorder.MaxPeers)] {
		out = append(out, machineorder.Peer{Name: n.Name, Address: address(n)})
	}
	return out
}

// turn is 0 for names after that of a node, and 1 for names before it.
func turn(name, node string) int {
	if name > node {
		return 0
	}
	return 1
}

func address(n *corev1.Node) string {
	port := cmp.Or(int(n.Status.DaemonEndpoints.KubeletEndpoint.Port), kubeletPort)
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP && net.ParseIP(a.Address) != nil {
			return net.JoinHostPort(a.Address, strconv.Itoa(port))
		}
	}
	return ""
}
