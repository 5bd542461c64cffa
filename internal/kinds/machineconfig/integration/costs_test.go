// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
)

// many is a number of nodes that exceeds the budget of their pool several times.
const many = 20

func fifth(p *mcfgv1.MachineConfigPool) {
	v := intstr.FromString("20%")
	p.Spec.MaxUnavailable = &v
}

// costs gives the nodes of a pool another configuration, and returns the operator's successful requests. The operator
// makes none afterwards.
func costs(t *testing.T, mc *mcfgv1.MachineConfig, pool, after string) testenv.Calls {
	t.Helper()
	mark := env.Audit.Mark(t)
	setMotd(t, mc, "changed")
	awaitUpdated(t, pool, many, after)
	env.Rests(t)
	return env.Audit.Since(t, mark).By(env.User).Counted().Where(func(c testenv.Call) bool { return c.Code < 400 })
}

// limits fails the test if there are more requests than those listed for each node. Requests that are not listed belong
// to the pool: few, whatever the number of nodes.
func limits(t *testing.T, calls testenv.Calls, perNode map[string]int) {
	t.Helper()
	others := 0
	for what, n := range calls.Tally() {
		if most, listed := perNode[what]; !listed {
			others += n
		} else if n > most*many {
			t.Errorf("%s: expected at most %d for each of %d nodes, got %d", what, most, many, n)
		}
	}
	if others > 2*many {
		t.Errorf("expected few requests for the pool, got %v", calls.Tally())
	}
}

func TestAChangeWithoutDrainCostsThreeWritesANode(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	nodesOf(t, "quick", many)
	mc := newConfig("quick", "50-quick", "a")
	create(t, mc, newPool("quick", fifth, needsNothing))
	first := awaitUpdated(t, "quick", many, "")
	// The taint of a node that has to change, the order, and the end of the update.
	limits(t, costs(t, mc, "quick", first.Spec.Configuration.Name), map[string]int{"patch nodes": 3})
}

func TestAChangeWithDrainCostsFiveWritesANodeAndAnEvictionAPod(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	names := nodesOf(t, "drained", many)
	mc, p := newConfig("drained", "50-drained", "a"), newPool("drained", fifth, needsNothing)
	create(t, mc, p)
	first := awaitUpdated(t, "drained", many, "")
	merge(t, p, `{"spec":{"nodeDisruptionPolicy":null}}`)
	ns := env.Namespace(t)
	for _, name := range names {
		create(t, newPod(ns, "db-"+name, name))
	}
	// Also the cordon, and the confirmation of the drain. A drain reads the pods of the node, and the budgets of their
	// namespace, before the eviction; it reads the node itself just before it, and the pods once more afterwards, or twice
	// if a pod takes longer.
	limits(t, costs(t, mc, "drained", first.Spec.Configuration.Name), map[string]int{
		"patch nodes": 5, "create pods/eviction": 1, "list pods": 3, "list poddisruptionbudgets": 2, "get nodes": 1,
	})
	if len(agents.Drained()) != many || agents.MostBusy() > many/5 {
		t.Errorf("expected each of %d nodes to be drained, and at most a fifth at a time, got %d and %d", many, len(agents.Drained()), agents.MostBusy())
	}
}
