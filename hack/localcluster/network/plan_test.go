// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

func TestNodesGetAddressesAndPodRangesOfTheirOwn(t *testing.T) {
	n := Plan()
	seen := map[netip.Addr]bool{ControlPlane(n): true, n.HostAddress: true}
	var pods []netip.Prefix
	for i := range MaxNodes {
		addr, cidr, err := Node(n, i)
		if err != nil {
			t.Fatal(err)
		}
		if seen[addr] || !n.Machines.Contains(addr) {
			t.Errorf("node %d: address %v is taken or outside of %v", i, addr, n.Machines)
		}
		seen[addr] = true
		for _, other := range pods {
			if cidr.Overlaps(other) {
				t.Errorf("node %d: %v overlaps %v", i, cidr, other)
			}
		}
		if !n.Pods.Overlaps(cidr) {
			t.Errorf("node %d: %v is outside of %v", i, cidr, n.Pods)
		}
		pods = append(pods, cidr)
	}
}

func TestEachMachineHasAnIPv6AddressOfItsOwn(t *testing.T) {
	n := Plan()
	seen := map[netip.Addr]bool{Address6(ControlPlane(n)): true}
	for i := range MaxNodes {
		addr, _, err := Node(n, i)
		if err != nil {
			t.Fatal(err)
		}
		if v6 := Address6(addr); seen[v6] || !v6.IsPrivate() || !machines6.Contains(v6) {
			t.Errorf("node %d: address %v is taken, public, or outside of %v", i, v6, machines6)
		} else {
			seen[v6] = true
		}
	}
}

func TestANodeHasTheSameHardwareAddressAfterEachStart(t *testing.T) {
	node := state.Node{Machine: state.Machine{Address: netip.MustParseAddr("10.214.0.13")}}
	if got := hardwareAddress(node).String(); got != "02:00:0a:d6:00:0d" {
		t.Errorf("expected it to follow from the node's address, got %s", got)
	}
}

func TestTooManyNodesAreRefused(t *testing.T) {
	if _, _, err := Node(Plan(), MaxNodes); err == nil {
		t.Error("accepted")
	}
}

func TestTheRangesOfThePlanDoNotOverlap(t *testing.T) {
	n := Plan()
	all := append(ranges(n), n.HostLink)
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Overlaps(b) {
				t.Errorf("%v overlaps %v", a, b)
			}
		}
	}
}

func TestCollisions(t *testing.T) {
	for name, c := range map[string]struct {
		route route
		want  string
	}{
		"the default route is no collision":        {route{"default", "eth0"}, ""},
		"half of the Internet is no collision":     {route{"0.0.0.0/1", "tun0"}, ""},
		"another network is no collision":          {route{"192.0.2.0/24", "eth0"}, ""},
		"our own link's routes are no collision":   {route{"10.96.0.0/16", HostInterface}, ""},
		"a wider private route is a collision":     {route{"10.0.0.0/8", "tun0"}, "10.0.0.0/8 dev tun0"},
		"a single address inside is a collision":   {route{"10.96.0.1", "lo"}, "10.96.0.1 dev lo"},
		"a narrower route inside is a collision":   {route{"10.215.7.0/24", "br0"}, "10.215.7.0/24 dev br0"},
		"the host link's range is guarded as well": {route{"10.214.255.0/24", "br0"}, "10.214.255.0/24"},
	} {
		t.Run(name, func(t *testing.T) {
			err := collision(Plan(), []route{c.route})
			if c.want == "" && err != nil {
				t.Errorf("got %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want it to name %q", err, c.want)
			}
		})
	}
}
