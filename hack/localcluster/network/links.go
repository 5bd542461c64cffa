// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const bridge = "nodes"

// CreateRouter creates the control plane's network namespace, the bridge for the nodes in it, and the link to this
// host.
func CreateRouter(ctx context.Context, st *state.State) error {
	n, ns := st.Network, st.ControlPlane.NetNS
	if err := CreateBridge(ctx, st); err != nil {
		return err
	}
	err := batch(ctx, "",
		fmt.Sprintf("link add %s type veth peer name host netns %s", HostInterface, ns),
		fmt.Sprintf("address add %v/%d dev %s", n.HostAddress, n.HostLink.Bits(), HostInterface),
		fmt.Sprintf("link set %s up", HostInterface))
	if err != nil {
		return err
	}
	err = batch(ctx, ns,
		fmt.Sprintf("address add %v/%d dev host", router(n), n.HostLink.Bits()),
		"link set host up")
	if err != nil {
		return err
	}
	if err := forward(ns); err != nil {
		return err
	}
	return batch(ctx, "", hostRoutes(n)...)
}

func hostRoutes(n state.Network) []string {
	var routes []string
	for _, r := range ranges(n) {
		routes = append(routes, fmt.Sprintf("route add %v via %v dev %s", r, router(n), HostInterface))
	}
	return routes
}

// CreateNode creates a node's network namespace and connects it to the bridge. It first removes leftovers of a crash.
func CreateNode(ctx context.Context, st *state.State, node state.Node) error {
	if err := CreateNamespace(node); err != nil {
		return err
	}
	return Connect(ctx, st, node, node.NetNS)
}

// CreateNamespace creates a node's network namespace without a link. It first removes leftovers of a crash.
func CreateNamespace(node state.Node) error {
	if err := RemoveNode(node); err != nil {
		return err
	}
	return createNamespace(node.NetNS)
}

// Connect connects the network namespace at path ns to the bridge, as the only namespace of the node.
func Connect(ctx context.Context, st *state.State, node state.Node, ns string) error {
	// The kernel removes the bridge port of the old namespace with a delay, so remove the port now.
	if err := batch(ctx, st.ControlPlane.NetNS, "link delete "+node.Name); err != nil && !isAbsent(err) {
		return err
	}
	err := batch(ctx, st.ControlPlane.NetNS,
		fmt.Sprintf("link add %s type veth peer name eth0 address %v netns %s", node.Name, hardwareAddress(node), ns),
		fmt.Sprintf("link set %s master %s up", node.Name, bridge),
		fmt.Sprintf("route replace %v via %v", node.PodCIDR, node.Address))
	if err != nil {
		return err
	}
	if err := batch(ctx, ns, nodeLinks(st, node)...); err != nil {
		return err
	}
	return forward(ns)
}

func nodeLinks(st *state.State, node state.Node) []string {
	lines := []string{
		"link set lo up",
		fmt.Sprintf("address add %v/%d dev eth0", node.Address, st.Network.Machines.Bits()),
		address6(node.Address, "eth0"),
		"link set eth0 up",
		fmt.Sprintf("route add default via %v", st.ControlPlane.Address),
	}
	for _, other := range st.Nodes {
		if other.Name != node.Name {
			lines = append(lines, fmt.Sprintf("route add %v via %v", other.PodCIDR, other.Address))
		}
	}
	return lines
}

// address6 returns the command that gives a link the IPv6 address of a machine. Nothing else has this address, so that
// duplicate address detection, which takes a second, can be left out.
func address6(machine netip.Addr, link string) string {
	return fmt.Sprintf("address add %v/%d dev %s nodad", Address6(machine), machines6.Bits(), link)
}

// RemoveNode removes a node's network namespace. For other machines this looks like a power cut: the node does not
// respond at all, and does not even refuse connections.
func RemoveNode(node state.Node) error { return removeNamespace(node.NetNS) }

// Cut takes a node's link down, so that no machine can reach the node.
func Cut(ctx context.Context, st *state.State, node state.Node) error {
	return batch(ctx, st.ControlPlane.NetNS, fmt.Sprintf("link set %s down", node.Name))
}

// Heal takes a node's link up again, and so undoes Cut.
func Heal(ctx context.Context, st *state.State, node state.Node) error {
	return batch(ctx, st.ControlPlane.NetNS, fmt.Sprintf("link set %s up", node.Name))
}

// RemoveHostLink removes this host's link to the cluster. The kernel then removes the routes through it.
func RemoveHostLink(ctx context.Context) error {
	if err := batch(ctx, "", "link delete "+HostInterface); err != nil && !isAbsent(err) {
		return err
	}
	return nil
}

func isAbsent(err error) bool { return strings.Contains(err.Error(), "Cannot find device") }

// batch runs commands of the ip program. If ns is not empty, they run in that network namespace.
func batch(ctx context.Context, ns string, lines ...string) error {
	args := []string{"ip", "-batch", "-"}
	if ns != "" {
		args = append([]string{"nsenter", "--net=" + ns}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ip (%s): %w: %s", strings.Join(lines, "; "), err, strings.TrimSpace(out.String()))
	}
	return nil
}

// forward enables IPv4 forwarding in a network namespace. It does not affect this host, as the setting is per
// namespace.
func forward(ns string) error {
	return Inside(ns, func() error {
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
	})
}
