// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package network manages the cluster's own network: the address plan, the network namespaces, and the links and routes
// between them. All traffic stays between addresses of these namespaces. This host gets one link and the routes through
// it, and forwards nothing.
//
//	this host --hostlink-- control plane (router) --bridge-- node1, node2, ...
//
// All traffic between this host and the nodes passes through the control plane's namespace, because that namespace does
// not crash with a node. The namespace has no route to external networks.
package network

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// HostInterface is the name of the network link on this host.
const HostInterface = "opcrew0"

// MaxNodes is the maximum number of nodes. The address plan would allow more.
const MaxNodes = 50

const firstNode = 11 // last byte of node1's address

// Plan returns the default address plan: a /15 range that few other networks use, for machines and pods, and the usual
// range for Services.
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

// ControlPlane returns the address of the API server, which is also the nodes' gateway.
func ControlPlane(n state.Network) netip.Addr { return n.Machines.Addr().Next() }

// Registry returns the address from which the nodes pull images.
func Registry(n state.Network) netip.AddrPort { return netip.AddrPortFrom(ControlPlane(n), 5000) }

// router returns the address of the control plane's end of the host link.
func router(n state.Network) netip.Addr { return n.HostLink.Addr().Next() }

// KubernetesService returns the ClusterIP that the API server chooses for its own Service.
func KubernetesService(n state.Network) netip.Addr { return n.Services.Addr().Next() }

// Node returns the address and the pod range of the node with the given index. Indexes start at 0.
func Node(n state.Network, index int) (netip.Addr, netip.Prefix, error) {
	if index < 0 || index >= MaxNodes {
		return netip.Addr{}, netip.Prefix{}, fmt.Errorf("node number %d: the cluster can have at most %d nodes", index+1, MaxNodes)
	}
	machines := n.Machines.Addr().As4()
	machines[3] = byte(firstNode + index)
	pods := n.Pods.Addr().As4()
	pods[2] = byte(index + 1)
	return netip.AddrFrom4(machines), netip.PrefixFrom(netip.AddrFrom4(pods), 24), nil
}

// machines6 is the range of the machines' IPv6 addresses, which are unique local ones (RFC 4193). Pods and Services have
// IPv4 addresses only.
var machines6 = netip.MustParsePrefix("fd14:214::/64")

// Address6 returns the IPv6 address of a machine: the last byte is that of its IPv4 address.
func Address6(machine netip.Addr) netip.Addr {
	out := machines6.Addr().As16()
	out[15] = machine.As4()[3]
	return netip.AddrFrom16(out)
}

// hardwareAddress returns the MAC address of a node's link, which never changes. If it changed at each start, other
// nodes would use the old address for some seconds, and could not reach the node's pods.
func hardwareAddress(node state.Node) net.HardwareAddr {
	const local = 0x02 // locally administered: RFC 9542, 2.1
	ip := node.Address.As4()
	return net.HardwareAddr{local, 0, ip[0], ip[1], ip[2], ip[3]}
}

// ranges returns the address ranges to which this host gets a route.
func ranges(n state.Network) []netip.Prefix {
	return []netip.Prefix{n.Machines, n.Pods, n.Services, n.LoadBalancers}
}
