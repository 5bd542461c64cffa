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

// withoutPending takes out what pools want whose RuntimeClass has not been brought to
// their spec yet, and keeps what they hold until then: the node is written once, and not
// before and after. Their settings count all the same where pools differ, or the quicker
// pool would win over the older.
func withoutPending(node *corev1.Node, d desired, f nodeFacts) desired {
	pending := map[string]bool{}
	for _, pool := range f.pools {
		if f.classPending(pool) {
			pending[pool.Name] = true
		}
	}
	if len(pending) == 0 {
		return d
	}
	held := ledgerOf(node)
	waits := func(pool string, there []string) bool { return pending[pool] && !slices.Contains(there, pool) }
	out := d
	out.pools = slices.DeleteFunc(slices.Clone(d.pools), func(pool string) bool { return waits(pool, held.pools) })
	out.items = map[item]entry{}
	for i, e := range held.items {
		if _, wanted := d.items[i]; !wanted && slices.ContainsFunc(e.Pools, func(pool string) bool { return pending[pool] }) {
			out.items[i] = e
		}
	}
	for i, e := range d.items {
		old, holds := held.items[i]
		same := holds && old.Value == e.Value
		e.Pools = slices.DeleteFunc(slices.Clone(e.Pools), func(pool string) bool {
			return pending[pool] && (!same || !slices.Contains(old.Pools, pool))
		})
		switch {
		case len(e.Pools) > 0:
			out.items[i] = e
		case holds:
			out.items[i] = old
		}
	}
	return out
}

// classPending reports whether the class of a pool with taints is neither as its spec
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

// early reports whether a taint would come before its toleration: before the class of a
// pool that wants it is there, or while the class of another pool of the node is about
// to tolerate it. A pool whose class is not to be had holds up no one else's taints.
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
