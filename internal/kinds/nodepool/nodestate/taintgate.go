// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Classes maps names to the RuntimeClasses of the cluster.
type Classes map[string]*nodev1.RuntimeClass

// Gate returns what a node should have now. It leaves out settings that must wait until the RuntimeClass of a NodePool
// is up to date.
func Gate(node *corev1.Node, d Desired, pools []*nodesv1.NodePool, classes Classes) Desired {
	return afterClasses(node, withoutPending(node, d, pools, classes), pools, classes).recorded()
}

// afterClasses leaves out taints until the RuntimeClasses of the node's pools tolerate them. A pod gets its tolerations
// when it is created, so a pod created too early would stay Pending or be evicted.
func afterClasses(node *corev1.Node, d Desired, pools []*nodesv1.NodePool, classes Classes) Desired {
	held := LedgerOf(node)
	out := d
	out.Items = maps.Clone(d.Items)
	for i, e := range d.Items {
		if i.Kind != nodesv1.ConflictTaint {
			continue
		}
		if found, there := valueOn(node, i); there && found == e.Value || !classes.early(i.Taint(e.Value), e.Pools, membership(d, pools)) {
			continue
		}
		delete(out.Items, i)
		if old, ok := held.Items[i]; ok {
			out.Items[i] = old
		}
	}
	return out
}

// withoutPending leaves out new settings of NodePools whose RuntimeClass does not match the spec yet, so that the node
// is written only once. These settings still take part in conflicts, so that the older pool wins regardless of the
// order of reconciles.
func withoutPending(node *corev1.Node, d Desired, pools []*nodesv1.NodePool, classes Classes) Desired {
	pending := map[string]bool{}
	for _, pool := range pools {
		if classes.pending(pool) {
			pending[pool.Name] = true
		}
	}
	if len(pending) == 0 {
		return d
	}
	held := LedgerOf(node)
	waits := func(pool string, there []string) bool { return pending[pool] && !slices.Contains(there, pool) }
	out := d
	out.Pools = slices.DeleteFunc(slices.Clone(d.Pools), func(pool string) bool { return waits(pool, held.Pools) })
	out.Items = map[Item]entry{}
	for i, e := range held.Items {
		if _, wanted := d.Items[i]; !wanted && slices.ContainsFunc(e.Pools, func(pool string) bool { return pending[pool] }) {
			out.Items[i] = e
		}
	}
	for i, e := range d.Items {
		old, holds := held.Items[i]
		same := holds && old.Value == e.Value
		e.Pools = slices.DeleteFunc(slices.Clone(e.Pools), func(pool string) bool {
			return pending[pool] && (!same || !slices.Contains(old.Pools, pool))
		})
		switch {
		case len(e.Pools) > 0:
			out.Items[i] = e
		case holds:
			out.Items[i] = old
		}
	}
	return out
}

// pending reports whether opcrew is about to write the RuntimeClass of a NodePool: the pool has taints that the
// RuntimeClass does not tolerate, and the pool's status does not report on the RuntimeClass for this generation yet.
func (c Classes) pending(pool *nodesv1.NodePool) bool {
	reported := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolRuntimeClassReady)
	if pool.DeletionTimestamp != nil || reported != nil && reported.ObservedGeneration >= pool.Generation {
		return false
	}
	class := c[pool.Name]
	return slices.ContainsFunc(pool.Spec.Taints, func(t nodesv1.Taint) bool {
		taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}
		return class == nil || !metav1.IsControlledBy(class, pool) || !tolerates(class, taint)
	})
}

// early reports whether a taint would be set before all pods can tolerate it: a NodePool that sets the taint has no
// RuntimeClass yet, or the RuntimeClass of any pool of the node lacks the toleration. A RuntimeClass that cannot be
// created delays only taints of its own pool.
func (c Classes) early(taint corev1.Taint, owners []string, members []*nodesv1.NodePool) bool {
	for _, pool := range members {
		class := c[pool.Name]
		own := class != nil && metav1.IsControlledBy(class, pool)
		switch {
		case own && !tolerates(class, taint):
			return true
		case !own && slices.Contains(owners, pool.Name):
			return true
		}
	}
	return false
}

// membership returns the NodePools of a node that are neither paused nor in dry run.
func membership(d Desired, pools []*nodesv1.NodePool) []*nodesv1.NodePool {
	return slices.DeleteFunc(slices.Clone(pools), func(pool *nodesv1.NodePool) bool {
		return !slices.Contains(d.Pools, pool.Name) || Frozen(pool)
	})
}

func tolerates(class *nodev1.RuntimeClass, taint corev1.Taint) bool {
	return class.Scheduling != nil && slices.ContainsFunc(class.Scheduling.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(logr.Discard(), &taint, false)
	})
}
