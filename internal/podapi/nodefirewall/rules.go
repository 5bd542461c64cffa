// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodefirewall

import (
	"errors"
	"fmt"
	"net/netip"
)

// Pool has the rules of one pool, with the addresses of all sources. It holds for the nodes in Members.
type Pool struct {
	Name    string   `json:"pool"`
	Members []string `json:"members"`
	// Deny is set if packets are dropped that no rule allows. Otherwise only the ports that a rule names are closed to
	// other sources.
	Deny  bool   `json:"deny"`
	Rules []Rule `json:"rules"`
	// OpenHost is set if firewalld and ufw must allow what the rules allow.
	OpenHost bool `json:"openHost,omitempty"`
}

// Rule allows packets from some sources to some ports.
type Rule struct {
	Name string `json:"name,omitempty"`
	// Any is set if the rule allows every source. A rule without addresses allows none: its pool may have no nodes.
	Any  bool           `json:"any,omitempty"`
	From []netip.Prefix `json:"from,omitempty"`
	// Ports are empty for all ports and protocols.
	Ports []Ports `json:"ports,omitempty"`
}

// Ports are the ports from First to Last of a protocol.
type Ports struct {
	Protocol string `json:"protocol"`
	First    uint16 `json:"first"`
	Last     uint16 `json:"last"`
}

// Nodes has the addresses of all nodes, and the port of the API server, which must be reachable on its nodes; 0 if it is
// not known.
type Nodes struct {
	Nodes     []Node `json:"nodes"`
	APIServer uint16 `json:"apiServer,omitempty"`
}

// Node has the addresses of a node and those of its pods.
type Node struct {
	Name      string         `json:"name"`
	Addresses []netip.Addr   `json:"addresses,omitempty"`
	Pods      []netip.Prefix `json:"pods,omitempty"`
}

// Protocols of ports.
const (
	TCP  = "TCP"
	UDP  = "UDP"
	SCTP = "SCTP"
)

func (p Pool) check() error {
	if p.Name == "" {
		return errors.New("the pool has no name")
	}
	return checkRules(p.Rules)
}

func checkRules(rules []Rule) error {
	for _, r := range rules {
		for _, from := range r.From {
			if !from.IsValid() {
				return errors.New("a source is no CIDR")
			}
		}
		for _, ports := range r.Ports {
			if err := ports.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p Ports) check() error {
	switch {
	case p.Protocol != TCP && p.Protocol != UDP && p.Protocol != SCTP:
		return fmt.Errorf("%q is no protocol", p.Protocol)
	case p.First == 0 || p.Last < p.First:
		return fmt.Errorf("%d-%d are no ports", p.First, p.Last)
	}
	return nil
}
