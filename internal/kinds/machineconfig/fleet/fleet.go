// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
)

// Fleet is all pools and nodes of a cluster, as they were read.
type Fleet struct {
	Pools []*mcfgv1.MachineConfigPool
	Nodes []*corev1.Node
	// Drained are nodes on which no pod is left to evict.
	Drained map[string]bool
	// Unseen are nodes that the operator wrote, and whose new version it has not seen yet.
	Unseen map[string]bool
	// Readings remembers what nodes say; nil to read them each time.
	Readings *Readings
	// EtcdTrouble says why etcd is not healthy; empty if it is. Kured are the nodes that hold kured's lock.
	EtcdTrouble string
	Kured       []string
	// Activities are the nodes on which Activities of fleets and NodePools are pending or running, with the Activity.
	Activities map[string]string
	// Operator is the node on which the operator runs; empty if it runs outside the cluster.
	Operator string
}

// Target returns the rendered configuration of a pool. Admission lets only the operator write it. The name of a
// configuration of another pool does not count, because it may have Secrets that are not for this pool.
func Target(p *mcfgv1.MachineConfigPool) string {
	if name := p.Spec.Configuration.Name; render.IsName(p.Name, name) {
		return name
	}
	return ""
}

// Pool returns the pool with a name; nil if there is none.
func (f *Fleet) Pool(name string) *mcfgv1.MachineConfigPool {
	if i := slices.IndexFunc(f.Pools, func(p *mcfgv1.MachineConfigPool) bool { return p.Name == name }); i >= 0 {
		return f.Pools[i]
	}
	return nil
}

// selectors returns the node selectors of the pools, in their order.
func (f *Fleet) selectors() []labels.Selector {
	out := make([]labels.Selector, len(f.Pools))
	for i, p := range f.Pools {
		out[i] = Selector(p.Spec.NodeSelector)
	}
	return out
}

// Selector returns a selector of a pool. In this API, an empty selector selects nothing.
func Selector(s *metav1.LabelSelector) labels.Selector {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return labels.Nothing()
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// PoolsOf returns the names of the pools that select a node.
func (f *Fleet) PoolsOf(n *corev1.Node) []string { return f.poolsOf(n, f.selectors()) }

func (f *Fleet) poolsOf(n *corev1.Node, selectors []labels.Selector) []string {
	var out []string
	for i, p := range f.Pools {
		if p.DeletionTimestamp == nil && selectors[i].Matches(labels.Set(n.Labels)) {
			out = append(out, p.Name)
		}
	}
	return out
}

// Primaries returns the names of the pools that configure the nodes, in their order.
func (f *Fleet) Primaries() []string {
	out, selectors := make([]string, len(f.Nodes)), f.selectors()
	for i, n := range f.Nodes {
		out[i] = (&rollout.Node{Pools: f.poolsOf(n, selectors)}).Primary()
	}
	return out
}

// Primary returns the name of the pool that configures a node; empty if there is none, or if several claim it.
func (f *Fleet) Primary(n *corev1.Node) string {
	return (&rollout.Node{Pools: f.PoolsOf(n)}).Primary()
}
