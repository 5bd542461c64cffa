// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func TestANodeWithTheStartupTaintIsJoiningUntilItHasAConfiguration(t *testing.T) {
	for current, want := range map[string]bool{"": true, machineorder.None: true, "rendered-gold-1": false} {
		n := newNode("n", "g")
		n.Spec.Taints = []corev1.Taint{nodepatch.Startup}
		n.Annotations[machineorder.CurrentConfig] = current
		if got := only(t, n, newPool("gold", "g")).Joining; got != want {
			t.Errorf("a node that has %q: expected joining to be %t, got %t", current, want, got)
		}
	}
}

func TestTheTimeOfAnOrderIsThatOfItsConfiguration(t *testing.T) {
	n, at := newNode("n", "g"), now.Add(-time.Hour)
	n.Annotations[machineorder.DesiredConfig] = "rendered-gold-1"
	n.Annotations[nodepatch.OrderedAnnotation] = nodepatch.Stamp("rendered-gold-1", at)
	if got := only(t, n, newPool("gold", "g")).Ordered; !got.Equal(at) {
		t.Errorf("expected %s, got %s", at, got)
	}
	n.Annotations[machineorder.DesiredConfig] = "rendered-gold-2"
	if got := only(t, n, newPool("gold", "g")).Ordered; !got.IsZero() {
		t.Errorf("expected no time of an order that is not recorded, got %s", got)
	}
}

func TestANodeIsRevertedIfItsAgentReportsItAboutItsOrder(t *testing.T) {
	n := newNode("n", "g")
	n.Annotations[machineorder.DesiredConfig] = "rendered-gold-1"
	n.Annotations[machineorder.ReportAnnotation] = `{"config":"rendered-gold-1","phase":"Reverted","revertedTo":"none"}`
	if !only(t, n, newPool("gold", "g")).Reverted {
		t.Error("expected the node to be reverted")
	}
	n.Annotations[machineorder.DesiredConfig] = "rendered-gold-2"
	if only(t, n, newPool("gold", "g")).Reverted {
		t.Error("expected a report about an earlier order not to count")
	}
}

func TestTheNodeOfTheOperatorIsKnown(t *testing.T) {
	f := Fleet{Pools: []*mcfgv1.MachineConfigPool{newPool("gold", "g")}, Nodes: []*corev1.Node{newNode("a", "g"), newNode("b", "g")}, Operator: "b"}
	nodes := f.Cluster(now).Nodes
	if nodes[0].HostsOperator || !nodes[1].HostsOperator {
		t.Errorf("expected the operator on node b, got %+v and %+v", nodes[0], nodes[1])
	}
}
