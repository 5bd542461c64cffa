// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"maps"
	"testing"

	"github.com/opcrew/opcrew/test/testenv/metric"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func TestAPoolHasAGaugeOfNodesForEachStateUntilItIsGone(t *testing.T) {
	registry := prometheus.NewRegistry()
	g, err := newGauges(registry)
	if err != nil {
		t.Fatal(err)
	}
	cordoned := newNode("cordoned", target, nil)
	cordoned.Spec.Unschedulable = true
	p, r := newPool(), &poolReconciler{shared: &shared{}, gauges: g}
	f := facts{fleet: fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{p}, Nodes: []*corev1.Node{
		newNode("ready", target, nil), cordoned, newNode("outdated", earlier, nil), newNode("changing", earlier, annotations{machineorder.DesiredConfig: target}),
		failedNode("failed", machineorder.StateDegraded), failedNode("refused", machineorder.StateUnreconcilable),
	}}}
	r.after(p, f, r.Decide(p, f, now), kit.Outcome{})
	const name = "opcrew_machineconfig_nodes gold "
	want := map[string]float64{name + "total": 6, name + "updated": 2, name + "ready": 1, name + "changing": 1, name + "unavailable": 4, name + "degraded": 2}
	if got := metric.Gauges(t, registry); !maps.Equal(got, want) {
		t.Errorf("expected the series %v, got %v", want, got)
	}
	r.forgetPool(client.ObjectKey{Name: "gold"})
	if got := metric.Gauges(t, registry); len(got) > 0 {
		t.Errorf("expected no series of a pool that is gone, got %v", got)
	}
}
