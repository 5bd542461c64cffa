// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/nodedrain/evict"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// nodeReconciler reconciles Nodes. It is the only writer of opcrew's keys about machine configuration.
type nodeReconciler struct {
	*shared
}

// nodeFacts holds what is read about a node: the whole fleet, because budgets span pools, and what its step needs. A node
// that is idle or busy needs no other node.
type nodeFacts struct {
	fleet fleet.Fleet
	// configs are the delivered configurations that the node has or may get.
	configs map[string]*orders.Config
	// drain is what is known about the pods of a node that is to be drained, and is cordoned; nil for other nodes.
	drain *drain.Input
}

// nodeDecision is what to do with a node.
type nodeDecision struct {
	edit   nodepatch.Edit
	events []kit.Event
	// drain is what to do to drain the node; nil if it is not to be drained. evicts is set if that is the step to take.
	drain  *drain.Plan
	evicts bool
	again  time.Duration
}

// Observe reads the pools. It reads other nodes, pods and configurations only for a node that has something to do.
func (r *nodeReconciler) Observe(ctx context.Context, node *corev1.Node) (nodeFacts, error) {
	var f nodeFacts
	var err error
	if f.fleet, err = r.poolsOnly(ctx); err != nil {
		return f, err
	}
	if r.isIdle(node, f.fleet) || f.fleet.IsBusy(node) {
		f.fleet.Nodes = []*corev1.Node{node}
		return f, nil
	}
	if f.fleet.Nodes, err = r.nodesWith(ctx, node); err != nil {
		return f, err
	}
	f.fleet.Unseen = r.unseen(f.fleet.Nodes)
	if f.configs, err = r.configs.load(ctx, configsOf(node, f.fleet)...); err != nil {
		return f, err
	}
	if err := r.observeOthers(ctx, &f.fleet, fleet.IsControlPlane(node)); err != nil {
		return f, err
	}
	if fleet.Phase(node) == rollout.WantsDrain && node.Spec.Unschedulable {
		f.drain, err = r.refused.Observe(ctx, r.Live, node.Name, nodepatch.Cordoned(node))
	}
	return f, err
}

// nodesWith returns all nodes, with this version of the given one: the cache may have got a newer version since it was
// read, and what is read about a node depends on its version.
func (r *nodeReconciler) nodesWith(ctx context.Context, node *corev1.Node) ([]*corev1.Node, error) {
	all, err := listNodes(ctx, r.Client)
	for i, n := range all {
		if n.Name == node.Name {
			all[i] = node
		}
	}
	return all, err
}

// isIdle reports whether a node has the configuration that it should have, or no pool, so that nothing more has to be read.
func (r *nodeReconciler) isIdle(node *corev1.Node, all fleet.Fleet) bool {
	current, desired := node.Annotations[machineorder.CurrentConfig], node.Annotations[machineorder.DesiredConfig]
	pool := all.Pool(all.Primary(node))
	if fleet.Phase(node) != rollout.Idle || pool == nil {
		return fleet.Phase(node) == rollout.Idle
	}
	_, err := machineorder.ParseOrder(node.Annotations[machineorder.OrderAnnotation])
	return fleet.Goal(pool) == current && desired == current && (err == nil || desired == "")
}

// unseen returns the nodes whose last write by opcrew the cache does not show yet. They may have orders, so they count
// as unavailable.
func (r *nodeReconciler) unseen(nodes []*corev1.Node) map[string]bool {
	out, kind := map[string]bool{}, corev1.SchemeGroupVersion.WithKind("Node")
	for _, n := range nodes {
		if r.Children.Behind(kind, n) {
			out[n.Name] = true
		}
	}
	return out
}

// configsOf returns the names of the configurations that a node has, was ordered to have or tried, or may get.
func configsOf(node *corev1.Node, all fleet.Fleet) []string {
	names := []string{node.Annotations[machineorder.CurrentConfig], node.Annotations[machineorder.DesiredConfig], nodepatch.Report(node).Config}
	for _, name := range all.PoolsOf(node) {
		p := all.Pool(name)
		names = append(names, fleet.Target(p), p.Status.Configuration.Name)
	}
	return names
}

// Plan returns the patch of the node, or the eviction of its pods.
func (r *nodeReconciler) Plan(node *corev1.Node, _ nodeFacts, d nodeDecision) kit.Plan {
	plan := kit.Plan{Again: d.again, Events: d.events}
	if patch, needed := d.edit.Patch(node); needed {
		plan.Patches = []kit.Patch{patch}
	}
	if d.evicts && len(d.drain.Evict) > 0 {
		plan.Step = &kit.Step{
			Name: "evict pods from node " + node.Name, Why: "the node is drained for " + node.Annotations[machineorder.DesiredConfig],
			Do: func(ctx context.Context) error { return r.evict(ctx, node, d.drain.Evict) },
		}
	}
	return plan
}

// Report does nothing: opcrew does not write the status of nodes.
func (r *nodeReconciler) Report(*corev1.Node, nodeFacts, nodeDecision, kit.Outcome) {}

// after remembers what blocks a drain, and why a patch of the node was refused. It wakes the pool that reports them if
// they have changed.
func (r *nodeReconciler) after(node *corev1.Node, f nodeFacts, d nodeDecision, done kit.Outcome) {
	why := ""
	if ensure.Refused(done.Err) && !errors.Is(done.Err, evict.Err) {
		why = done.Err.Error()
	}
	if why == r.denied.Get(node.Name) && equality.Semantic.DeepEqual(r.drains.Get(node.Name), d.drain) {
		return
	}
	r.denied.Set(node.Name, why)
	r.drains.Set(node.Name, d.drain)
	if d.drain == nil {
		r.refused.Forget(node.Name)
	}
	for _, name := range append(f.fleet.PoolsOf(node), poolOf(node.Annotations[machineorder.DesiredConfig])) {
		r.pools.wake(name)
	}
}

// drainPoll is the time between two looks at the pods of a node that is drained.
const drainPoll = 2 * time.Second
