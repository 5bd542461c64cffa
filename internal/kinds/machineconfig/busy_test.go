// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// busyNode returns a node with an order for target, and with a report about it if there are more annotations.
func busyNode(t *testing.T, current string, more annotations) *corev1.Node {
	t.Helper()
	all := ordered(t, target)
	maps.Copy(all, more)
	if len(more) > 0 {
		all[machineorder.ReportAnnotation] = `{"config":"` + target + `","phase":"Drain"}`
	}
	return newNode("a", current, all)
}

func TestTheStepOfABusyNodeDependsOnNoOtherNode(t *testing.T) {
	works := annotations{machineorder.State: machineorder.StateWorking}
	cordoned := busyNode(t, target, annotations{machineorder.DesiredDrain: machineorder.Uncordon(target), "opcrew.io/machine-cordoned": "2026-11-25T12:00:00Z"})
	cordoned.Spec.Unschedulable = true
	for phase, n := range map[rollout.Phase]*corev1.Node{
		rollout.Ordered: busyNode(t, earlier, nil), rollout.Working: busyNode(t, earlier, works), rollout.WantsUncordon: cordoned,
	} {
		p := newPool()
		if !(&fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{p}}).IsBusy(n) || fleet.Phase(n) != phase {
			t.Errorf("expected a busy node with phase %s, got phase %s", phase, fleet.Phase(n))
		}
		others := []*corev1.Node{n, newNode("b", earlier, nil), newNode("c", target, nil), failedNode("d", machineorder.StateDegraded)}
		if one, all := patchOf(decided(p, nil, n), n), patchOf(decided(p, nil, others...), n); one != all {
			t.Errorf("%s: expected the same patch with other nodes and without, got %s and %s", phase, all, one)
		}
	}
}

func TestANodeThatMayGetAnotherOrderNeedsTheOthers(t *testing.T) {
	waits := busyNode(t, earlier, annotations{machineorder.State: machineorder.StateWorking, machineorder.DesiredDrain: machineorder.Drain(target)})
	master := busyNode(t, earlier, nil)
	master.Labels["node-role.kubernetes.io/control-plane"] = ""
	old := newPool()
	old.Spec.Configuration.Name = earlier
	for name, c := range map[string]struct {
		node *corev1.Node
		pool *mcfgv1.MachineConfigPool
	}{
		"it is to be drained": {waits, newPool()}, "it runs the control plane": {master, newPool()}, "its pool has another configuration": {busyNode(t, earlier, nil), old},
		"its order was removed": {newNode("a", earlier, annotations{machineorder.DesiredConfig: target}), newPool()},
	} {
		if (&fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{c.pool}}).IsBusy(c.node) {
			t.Errorf("%s: expected the node to need the others", name)
		}
	}
}
