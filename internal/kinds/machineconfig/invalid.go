// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// holdInvalid replaces the verdicts about nodes that are to get an order and cannot: the node reconciler writes none, so
// without a reason such a node would seem to change for ever.
func (d *decision) holdInvalid(pool *mcfgv1.MachineConfigPool, f facts) {
	if f.configs == nil {
		return // nothing was read, because no node has to change
	}
	known := map[[2]string]string{}
	for i, v := range d.verdicts {
		n := d.node(v.Node)
		if v.Action != rollout.Order || n == nil {
			continue
		}
		key := [2]string{n.Current, v.Config}
		if _, checked := known[key]; !checked {
			known[key] = whyInvalid(pool, f, n.Current, v.Config)
		}
		if why := known[key]; why != "" {
			d.verdicts[i].Verdict = rollout.Verdict{Reason: mcfgv1.ReasonInvalidConfig, Message: why}
		}
	}
}

// holdDenied replaces the verdicts about nodes whose last patch the API server refused.
func (d *decision) holdDenied(f facts) {
	for i, v := range d.verdicts {
		if why := f.denied[v.Node]; why != "" {
			d.verdicts[i].Verdict = rollout.Verdict{Reason: common.ReasonRefused, Message: "the API server refuses a change of the Node: " + why}
		}
	}
}

// whyInvalid explains why a node cannot get the order to change to a configuration; empty if it can.
func whyInvalid(pool *mcfgv1.MachineConfigPool, f facts, from, to string) string {
	config := f.configs[to]
	if config == nil {
		return fmt.Sprintf("Secret %s in namespace opcrew-machines, with the configuration that it should get, does not exist: change a MachineConfig of pool %s", to, pool.Name)
	}
	err := orders.Check(config, orders.Required([]*orders.Config{f.configs[from]}, config, pool.Spec.NodeDisruptionPolicy))
	if err != nil {
		return fmt.Sprintf("no host could carry out the order: %v: correct the MachineConfigs or spec.nodeDisruptionPolicy of pool %s", err, pool.Name)
	}
	return ""
}

// node returns a node of the pool, or one that left it; nil if there is none with this name.
func (d *decision) node(name string) *rollout.Node {
	for _, nodes := range [][]*rollout.Node{d.members, d.left} {
		for _, n := range nodes {
			if n.Name == name {
				return n
			}
		}
	}
	return nil
}
