// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
)

// gauges holds the metrics of all NodePools.
type gauges struct {
	nodes     *prometheus.GaugeVec
	conflicts *prometheus.GaugeVec
}

func newGauges(registry prometheus.Registerer) (*gauges, error) {
	g := &gauges{
		nodes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "opcrew_nodepool_nodes",
			Help: "Number of nodes in a NodePool by state: total, ready, cordoned, updated (has all settings of the pool), joining, leaving, or failed (a step of its pipeline has failed).",
		}, []string{"pool", "state"}),
		conflicts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "opcrew_nodepool_conflicts",
			Help: "Number of labels, annotations and taints of a NodePool that another owner has set to a different value.",
		}, []string{"pool"}),
	}
	for _, c := range []prometheus.Collector{g.nodes, g.conflicts} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return g, nil
}

func (g *gauges) observe(pool string, members []*member) {
	status := &nodesv1.NodePoolStatus{}
	count(status, members)
	g.nodes.WithLabelValues(pool, "total").Set(float64(status.NodeCount))
	g.nodes.WithLabelValues(pool, "ready").Set(float64(status.ReadyNodes))
	g.nodes.WithLabelValues(pool, "cordoned").Set(float64(status.CordonedNodes))
	g.nodes.WithLabelValues(pool, "updated").Set(float64(status.UpdatedNodes))
	g.conflicts.WithLabelValues(pool).Set(float64(len(conflictsOf(pool, members))))
}

// observeSteps sets the numbers of nodes with a pipeline.
func (g *gauges) observeSteps(pool string, s nodesv1.PipelineStatus) {
	g.nodes.WithLabelValues(pool, "joining").Set(float64(s.JoiningNodes))
	g.nodes.WithLabelValues(pool, "leaving").Set(float64(s.LeavingNodes))
	g.nodes.WithLabelValues(pool, "failed").Set(float64(s.FailedPipelines))
}

func (g *gauges) forget(pool string) {
	g.nodes.DeletePartialMatch(prometheus.Labels{"pool": pool})
	g.conflicts.DeletePartialMatch(prometheus.Labels{"pool": pool})
}

// transitions returns events for a changed number of nodes, and for the remediation of nodes. Separate events on the
// nodes show which nodes joined and left.
func (r *poolReconciler) transitions(before, after *nodesv1.NodePool) []kit.Event {
	events := remediation.Events(before, after)
	if old, now := before.Status.NodeCount, after.Status.NodeCount; old != now {
		events = append(events, kit.Event{
			Reason: "NodesChanged", Action: "Count",
			Note: fmt.Sprintf("The pool now has %s, previously %d", plural(int(now), "node"), old),
		})
	}
	return events
}

func sortedNames(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }
