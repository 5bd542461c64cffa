// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

type route struct {
	Destination string `json:"dst"`
	Device      string `json:"dev"`
}

// CheckFree returns an error if a route of this host overlaps with the cluster's address plan. The error names the
// route.
func CheckFree(ctx context.Context, n state.Network) error {
	out, err := exec.CommandContext(ctx, "ip", "-4", "-j", "route", "show", "table", "all").Output()
	if err != nil {
		return fmt.Errorf("list this host's routes: %w", err)
	}
	var routes []route
	if err := json.Unmarshal(out, &routes); err != nil {
		return fmt.Errorf("list this host's routes: %w", err)
	}
	return collision(n, routes)
}

func collision(n state.Network, routes []route) error {
	planned := append(ranges(n), n.HostLink)
	for _, r := range routes {
		taken, ok := r.prefix()
		if !ok || r.Device == HostInterface {
			continue
		}
		for _, p := range planned {
			if p.Overlaps(taken) {
				return fmt.Errorf("the cluster needs the addresses %v, but this host uses them: route %s dev %s; remove this route first",
					p, r.Destination, r.Device)
			}
		}
	}
	return nil
}

// prefix returns the destination of a route. It returns false for default routes, and for 0.0.0.0/1 and 128.0.0.0/1,
// which VPNs use in place of a default route. These routes do not conflict with the cluster's narrower routes, which
// take precedence.
func (r route) prefix() (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(r.Destination); err == nil {
		return p, p.Bits() > 1
	}
	if a, err := netip.ParseAddr(r.Destination); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	return netip.Prefix{}, false
}
