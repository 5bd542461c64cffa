// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/nftables"
)

// Others returns other firewalls whose rules the kernel has. A packet that opcrew accepts can still be dropped by them.
func (k *Kernel) Others() ([]string, error) {
	conn, err := nftables.New(k.options...)
	if err != nil {
		return nil, err
	}
	chains, err := conn.ListChains()
	if err != nil {
		return nil, fmt.Errorf("list the nftables chains: %w", err)
	}
	var out []string
	for _, c := range chains {
		if name := firewall(c); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

func firewall(c *nftables.Chain) string {
	switch {
	case c.Table.Name == "firewalld":
		return "firewalld"
	case strings.HasPrefix(c.Name, "ufw-") || strings.HasPrefix(c.Name, "ufw6-"):
		return "ufw"
	}
	return ""
}
