// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// gauges holds the metrics of all MachineConfigPools. There are none of single nodes, whose number has no bound.
type gauges struct{ nodes *prometheus.GaugeVec }

func newGauges(registry prometheus.Registerer) (*gauges, error) {
	g := &gauges{prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "opcrew_machineconfig_nodes",
		Help: "Number of nodes in a MachineConfigPool by state: total, updated, ready (updated and available), changing, unavailable, degraded.",
	}, []string{"pool", "state"})}
	if err := registry.Register(g.nodes); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return g, nil
}

// observe shows the same numbers as the status of the pool, and how many nodes are changing.
func (g *gauges) observe(pool *mcfgv1.MachineConfigPool, d *decision) {
	if pool.DeletionTimestamp != nil {
		return
	}
	s, changing := mcfgv1.MachineConfigPoolStatus{}, 0
	count(&s, d, fleet.Target(pool))
	for _, n := range d.members {
		if n.Phase != rollout.Idle && n.Phase != rollout.Failed && n.Phase != rollout.Refused {
			changing++
		}
	}
	for state, number := range map[string]int32{
		"total": s.MachineCount, "updated": s.UpdatedMachineCount, "ready": s.ReadyMachineCount, "changing": int32(changing),
		"unavailable": s.UnavailableMachineCount, "degraded": s.DegradedMachineCount,
	} {
		g.nodes.WithLabelValues(pool.Name, state).Set(float64(number))
	}
}

func (g *gauges) forget(pool string) { g.nodes.DeletePartialMatch(prometheus.Labels{"pool": pool}) }
