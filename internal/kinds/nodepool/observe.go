// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/firewall"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines/reading"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/refusals"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
)

// poolReconciler reconciles NodePools: their RuntimeClass, status and finalizer. It never writes a Node.
type poolReconciler struct {
	*kit.Tools
	refusals *refusals.Refusals
	machines *reading.Reader
	scout    *remediation.Scout
}

// facts holds everything that is read about a NodePool.
type facts struct {
	pools    []*nodesv1.NodePool
	nodes    []*member
	class    *nodev1.RuntimeClass // nil if it does not exist
	refusals map[string]string    // maps node names to the reason why the patch of the node was not applied
	// held is the number of nodes with settings of a deleted NodePool, according to the API server. It is only read if
	// the cache shows no such node.
	held int
	// preview holds the nodes of a NodePool that is paused or in dry run, as they would be without the pause or dry
	// run.
	preview  []*member
	pods     []corev1.Pod // only read if a preview needs them
	config   configFacts
	steps    stepFacts
	remedies remediation.Facts
	// firewall is only read if the pool has a firewall, or is being deleted.
	firewall firewall.World
	machines reading.Facts
}

// member is a node that belongs to a NodePool or still has settings of this NodePool. desired is what the node should
// have.
type member struct {
	node    *corev1.Node
	desired nodestate.Desired
	belongs bool // false if the node left or leaves the pool but still has its settings
}

// Observe reads all NodePools, the nodes that belong or belonged to this pool, and its children.
func (r *poolReconciler) Observe(ctx context.Context, pool *nodesv1.NodePool) (facts, error) {
	f := facts{refusals: r.refusals.Snapshot(pool.Name)}
	var err error
	if f.pools, err = listPools(ctx, r.Client); err != nil {
		return f, err
	}
	if f.nodes, err = r.members(ctx, pool, f.pools); err != nil {
		return f, err
	}
	if f.class, err = r.runtimeClass(ctx, pool.Name); err != nil {
		return f, err
	}
	if err := r.observeFeatures(ctx, pool, &f); err != nil {
		return f, err
	}
	if pool.DeletionTimestamp != nil && len(f.nodes) == 0 {
		if f.held, err = r.heldLive(ctx, pool.Name); err != nil {
			return f, err
		}
	}
	return f, r.observePreview(ctx, pool, &f)
}

// observeFeatures reads what the optional parts of a NodePool need. It reads nothing for parts that are not set.
func (r *poolReconciler) observeFeatures(ctx context.Context, pool *nodesv1.NodePool, f *facts) error {
	var err error
	if f.config, err = r.observeConfig(ctx, pool); err != nil {
		return err
	}
	if f.steps, err = r.observeSteps(ctx, pool, f.nodes); err != nil {
		return err
	}
	if f.remedies, err = r.observeRemedies(ctx, pool, *f); err != nil {
		return err
	}
	f.machines = r.machines.Observe(pool, belonging(f.nodes))
	f.firewall, err = r.observeFirewall(ctx, pool)
	return err
}

// observePreview reads what the preview of a NodePool that is paused or in dry run needs.
func (r *poolReconciler) observePreview(ctx context.Context, pool *nodesv1.NodePool, f *facts) error {
	if !nodestate.Frozen(pool) || pool.DeletionTimestamp != nil {
		return nil
	}
	var err error
	if f.preview, err = r.members(ctx, pool, thaw(pool, f.pools)); err != nil {
		return err
	}
	if nodestate.DryRun(pool) && evicts(pool) {
		f.pods, err = r.livePods(ctx)
	}
	return err
}

func (r *poolReconciler) members(ctx context.Context, pool *nodesv1.NodePool, pools []*nodesv1.NodePool) ([]*member, error) {
	nodes, err := nodesNear(ctx, r.Client, pool)
	if err != nil {
		return nil, err
	}
	return membersOf(pool.Name, pools, nodes), nil
}

// membersOf returns the nodes that belong or belonged to a NodePool, sorted by name, so that the examples in a status
// do not change with the order of the cache.
func membersOf(pool string, pools []*nodesv1.NodePool, nodes []corev1.Node) []*member {
	var members []*member
	at := slices.IndexFunc(pools, func(p *nodesv1.NodePool) bool { return p.Name == pool })
	for i := range nodes {
		node := &nodes[i]
		if at >= 0 && !mayConcern(pools[at], node) {
			continue
		}
		held := nodestate.LedgerOf(node)
		d := nodestate.Desire(node, pools)
		belongs := slices.Contains(d.Pools, pool) && !d.Leaves(pool)
		if belongs || held.Mentions(pool) {
			members = append(members, &member{node, d, belongs})
		}
	}
	slices.SortFunc(members, func(a, b *member) int { return cmp.Compare(a.node.Name, b.node.Name) })
	return members
}

// mayConcern reports whether a node may belong or have belonged to a NodePool. It does not decode the ledger
// annotation, because it is called for every pool and every node, and nearly always returns false.
func mayConcern(pool *nodesv1.NodePool, node *corev1.Node) bool {
	_, role := node.Labels[pool.RoleLabel()]
	return role || len(pool.Spec.NodeSelector) > 0 || strings.Contains(node.Annotations[nodestate.LedgerAnnotation], `"`+pool.Name+`"`)
}

func (r *poolReconciler) runtimeClass(ctx context.Context, name string) (*nodev1.RuntimeClass, error) {
	class := &nodev1.RuntimeClass{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, class)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read RuntimeClass %s: %w", name, err)
	}
	return class, nil
}

func listPools(ctx context.Context, reader client.Reader) ([]*nodesv1.NodePool, error) {
	list := &nodesv1.NodePoolList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list NodePools: %w", err)
	}
	pools := make([]*nodesv1.NodePool, len(list.Items))
	for i := range list.Items {
		pools[i] = &list.Items[i]
	}
	return pools, nil
}
