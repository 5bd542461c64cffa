// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// afterClasses holds taints back until the RuntimeClasses of the node's pools tolerate
// them. Pods get their tolerations when they are created: one created between a new
// taint and its toleration would be pending for ever, or be evicted.
func afterClasses(node *corev1.Node, d desired, f nodeFacts) desired {
	held := ledgerOf(node)
	out := d
	out.items = maps.Clone(d.items)
	for i, e := range d.items {
		if i.kind != nodesv1.ConflictTaint {
			continue
		}
		if found, there := valueOn(node, i); there && found == e.Value || !f.early(i.taint(e.Value), e.Pools, d.pools) {
			continue
		}
		delete(out.items, i)
		if old, ok := held.items[i]; ok {
			out.items[i] = old
		}
	}
	return out
}

// settledPools gives the pools as the node may follow them now. One whose RuntimeClass
// has not been brought to its spec yet keeps what it holds until then, so that the node
// is written once, and not before and after.
func (f nodeFacts) settledPools() []*nodesv1.NodePool {
	out := slices.Clone(f.pools)
	for i, pool := range out {
		if f.classPending(pool) {
			out[i] = pool.DeepCopy()
			metav1.SetMetaDataAnnotation(&out[i].ObjectMeta, common.PausedAnnotation, "until its RuntimeClass is there")
		}
	}
	return out
}

// classPending tells whether the class of a pool with taints is neither as its spec
// says nor known not to be had: then its reconciler is about to see to it.
func (f nodeFacts) classPending(pool *nodesv1.NodePool) bool {
	reported := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolRuntimeClassReady)
	if pool.DeletionTimestamp != nil || reported != nil && reported.ObservedGeneration >= pool.Generation {
		return false
	}
	class := f.classes[pool.Name]
	return slices.ContainsFunc(pool.Spec.Taints, func(t nodesv1.Taint) bool {
		taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}
		return class == nil || !metav1.IsControlledBy(class, pool) || !tolerates(class, taint)
	})
}

// early tells whether a taint would come before its toleration: before the class of a
// pool that wants it is there, or while the class of another pool of the node is about
// to tolerate it. A pool whose class is not to be had holds up nobody else's taints.
func (f nodeFacts) early(taint corev1.Taint, owners, pools []string) bool {
	for _, pool := range f.pools {
		if !slices.Contains(pools, pool.Name) || frozen(pool) {
			continue
		}
		class := f.classes[pool.Name]
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

func tolerates(class *nodev1.RuntimeClass, taint corev1.Taint) bool {
	return class.Scheduling != nil && slices.ContainsFunc(class.Scheduling.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(logr.Discard(), &taint, false)
	})
}
