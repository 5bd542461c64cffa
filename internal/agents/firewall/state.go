// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Rules are the documents that hold for this node, as the operator wrote them.
type Rules struct {
	Pools map[string]string `json:"pools,omitempty"` // by the name of the pool
	Nodes string            `json:"nodes,omitempty"`
}

// State is what the agent keeps on the disk of the host.
type State struct {
	// Confirmed are the rules to which a trial reverts; without pools, there is no table.
	Confirmed Rules `json:"confirmed"`
	// Trial are rules that are in the kernel, and not yet confirmed.
	Trial *Rules `json:"trial,omitempty"`
	// Failure is about the rules that were tried last, if their trial failed.
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is a trial that failed.
type Failure struct {
	Rules  Rules  `json:"rules"`
	Reason string `json:"reason"`
	// Cuts counts trials after which the API server was out of reach, and Crashes those during which the agent ended.
	Cuts    int `json:"cuts,omitempty"`
	Crashes int `json:"crashes,omitempty"`
}

const (
	// mostCuts is how often rules are tried that seem to cut the node off. An outage of the API server can begin and end
	// together with a trial, so one trial is no proof.
	mostCuts    = 2
	mostCrashes = 5
)

// final reports whether the rules are not tried again.
func (f *Failure) final() bool { return f.Cuts >= mostCuts || f.Crashes >= mostCrashes }

func (r Rules) empty() bool { return len(r.Pools) == 0 }

func (r Rules) equal(other Rules) bool {
	return maps.Equal(r.Pools, other.Pools) && (r.Nodes == other.Nodes || r.empty())
}

func (r Rules) revisions() map[string]string {
	out := map[string]string{}
	for pool, text := range r.Pools {
		out[pool] = nodefirewall.Revision(text)
	}
	return out
}

// Select returns the rules of the pools to which a node belongs.
func Select(node string, pools map[string]string, nodes string) (Rules, error) {
	out := Rules{Pools: map[string]string{}, Nodes: nodes}
	for name, text := range pools {
		p, err := nodefirewall.ParsePool(text)
		if err != nil {
			return Rules{}, fmt.Errorf("the rules of pool %s cannot be read: %w; an agent of the operator's version can", name, err)
		}
		if slices.Contains(p.Members, node) {
			out.Pools[p.Name] = text
		}
	}
	return out, nil
}

// table returns the merged rules of a node.
func (r Rules) table(node string) (ruleset.Table, error) {
	var pools []nodefirewall.Pool
	for _, name := range slices.Sorted(maps.Keys(r.Pools)) {
		p, err := nodefirewall.ParsePool(r.Pools[name])
		if err != nil {
			return ruleset.Table{}, fmt.Errorf("the rules of pool %s cannot be read: %w", name, err)
		}
		pools = append(pools, p)
	}
	var nodes nodefirewall.Nodes
	if r.Nodes != "" {
		var err error
		if nodes, err = nodefirewall.ParseNodes(r.Nodes); err != nil {
			return ruleset.Table{}, fmt.Errorf("the addresses of nodes cannot be read: %w", err)
		}
	}
	out, _ := ruleset.Merge(node, pools, nodes)
	return out, nil
}
