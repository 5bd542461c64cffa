// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func TestAnOrderThatNoHostCouldCarryOutIsReported(t *testing.T) {
	from, to := &orders.Config{}, &orders.Config{Digest: "sha256-" + strings.Repeat("0", 64)}
	to.Name, to.Units = target, []hostconfig.Unit{{Name: "x.service", Enabled: new(true)}}
	p := newPool()
	bad := mcfgv1.PolicyActions{{Type: mcfgv1.ActionRestart, Restart: &mcfgv1.ServiceAction{ServiceName: "x.snapshot"}}}
	p.Spec.NodeDisruptionPolicy = &mcfgv1.NodeDisruptionPolicy{Units: []mcfgv1.UnitPolicy{{Name: "x.service", Actions: bad}}}
	f := facts{configs: map[string]*orders.Config{"rendered-gold-1": from, target: to}}
	got := reported(p, f, kit.Outcome{}, newNode("a", "rendered-gold-1", nil))
	if text(got, mcfgv1.PoolRenderDegraded) != "True InvalidConfig" || text(got, mcfgv1.PoolReady) != "False InvalidConfig" || got.Status.Nodes[0].State != "Waiting" {
		t.Errorf("expected the pool to be degraded, and the node to wait, got %+v", got.Status)
	}
}

func TestAConfigurationThatIsGoneIsReported(t *testing.T) {
	f := facts{configs: map[string]*orders.Config{"rendered-gold-1": {}}}
	got := reported(newPool(), f, kit.Outcome{}, newNode("a", "rendered-gold-1", nil))
	if text(got, mcfgv1.PoolRolloutBlocked) != "True InvalidConfig" || got.Status.Nodes[0].State != "Waiting" {
		t.Errorf("expected the pool to be blocked, and the node to wait, got %+v", got.Status)
	}
}

func TestAFailedNodeThatLeftItsPoolIsReportedByThePoolOfItsOrder(t *testing.T) {
	left := failedNode("a", machineorder.StateDegraded)
	left.Labels = nil
	p := reported(newPool(), facts{}, kit.Outcome{}, left, newNode("b", target, nil))
	if text(p, mcfgv1.PoolNodeDegraded) != "True NodeFailed" || len(p.Status.Nodes) != 1 || p.Status.Nodes[0].State != "Failed" {
		t.Errorf("expected the pool to name the node, got %+v", p.Status)
	}
	if p.Status.MachineCount != 1 || p.Status.DegradedMachineCount != 0 {
		t.Errorf("expected the node not to count in the pool, got %+v", p.Status)
	}
}

func TestAPoolWakesAlsoNodesThatItDoesNotSelect(t *testing.T) {
	other := newNode("a", target, annotations{machineorder.DesiredDrain: "uncordon-" + target})
	other.Labels = nil
	f := facts{}
	p := newPool()
	f.fleet.Pools, f.fleet.Nodes = []*mcfgv1.MachineConfigPool{p}, []*corev1.Node{other}
	if got := (&poolReconciler{}).Decide(p, f, now).ready; !slices.Equal(got, []string{"a"}) {
		t.Errorf("expected the node that can take a step to be woken, got %v", got)
	}
}

func TestARefusedChangeOfANodeIsReported(t *testing.T) {
	f := facts{denied: map[string]string{"a": "patch a: it is forbidden: not on a Friday"}}
	got := reported(newPool(), f, kit.Outcome{}, newNode("a", earlier, nil))
	if text(got, mcfgv1.PoolRolloutBlocked) != "True Refused" || !strings.Contains(fmt.Sprint(got.Status.Conditions), "not on a Friday") {
		t.Errorf("expected the pool to report what the API server refuses, got %+v", got.Status.Conditions)
	}
}
