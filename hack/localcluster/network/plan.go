// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network is the cluster's own network: the plan of addresses, the
// network namespaces, and the links and routes between them. All traffic stays
// on addresses of these namespaces; this host gets one link and the routes to
// it, and forwards nothing.
//
//	this host --hostlink-- control plane (router) --bridge-- node1, node2, ...
//
// The control plane's namespace never crashes with a node, so everything that
// the host reaches goes through it. It has no route to the outside.
package network

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// HostInterface is the name of the link on this host.
const HostInterface = "opcrew0"

// MaxNodes is bounded by the numbers that fit behind firstNode, and by sense.
const MaxNodes = 50

const firstNode = 11 // the last number of node1's address

// Plan is the default plan of addresses: one uncommon /15 and the usual range
// for Services.
func Plan() state.Network {
	return state.Network{
		Machines:      netip.MustParsePrefix("10.214.0.0/24"),
		HostLink:      netip.MustParsePrefix("10.214.255.0/30"),
		HostAddress:   netip.MustParseAddr("10.214.255.2"),
		Pods:          netip.MustParsePrefix("10.215.0.0/16"),
		Services:      netip.MustParsePrefix("10.96.0.0/16"),
		LoadBalancers: netip.MustParsePrefix("10.214.1.0/24"),
		DNS:           netip.MustParseAddr("10.96.0.10"),
	}
}

// ControlPlane is the address of the API server, and the nodes' gateway.
func ControlPlane(n state.Network) netip.Addr { return n.Machines.Addr().Next() }

// Registry is where the nodes pull images from.
func Registry(n state.Network) netip.AddrPort { return netip.AddrPortFrom(ControlPlane(n), 5000) }

// router is the control plane's end of the host link.
func router(n state.Network) netip.Addr { return n.HostLink.Addr().Next() }

// KubernetesService is the ClusterIP that the API server takes for itself.
func KubernetesService(n state.Network) netip.Addr { return n.Services.Addr().Next() }

// Node plans the address and the pods' range of the node with this index,
// which counts from 0.
func Node(n state.Network, index int) (netip.Addr, netip.Prefix, error) {
	if index < 0 || index >= MaxNodes {
		return netip.Addr{}, netip.Prefix{}, fmt.Errorf("node number %d: only %d nodes fit", index+1, MaxNodes)
	}
	machines := n.Machines.Addr().As4()
	machines[3] = byte(firstNode + index)
	pods := n.Pods.Addr().As4()
	pods[2] = byte(index + 1)
	return netip.AddrFrom4(machines), netip.PrefixFrom(netip.AddrFrom4(pods), 24), nil
}

// hardwareAddress is that of a node's link, its own as that of a real card is: with another after each start the other
// nodes, which remember the one before for some seconds, would not reach its pods.
func hardwareAddress(node state.Node) net.HardwareAddr {
	const local = 0x02 // not given out by a vendor: RFC 9542, 2.1
	ip := node.Address.As4()
	return net.HardwareAddr{local, 0, ip[0], ip[1], ip[2], ip[3]}
}

// ranges are all addresses that the host gets a route for.
func ranges(n state.Network) []netip.Prefix {
	return []netip.Prefix{n.Machines, n.Pods, n.Services, n.LoadBalancers}
}
