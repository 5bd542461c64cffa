// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// afterClasses holds taints back until the RuntimeClasses of the node's pools tolerate
// them. Pods get their tolerations when they are created: one created between a new
// taint and its toleration would be pending for ever.
func afterClasses(node *corev1.Node, d desired, f nodeFacts) desired {
	held := ledgerOf(node)
	out := d
	out.items = maps.Clone(d.items)
	for i, e := range d.items {
		if i.kind != nodesv1.ConflictTaint {
			continue
		}
		if found, there := valueOn(node, i); there && found == e.Value || !f.early(i.taint(e.Value), d.pools) {
			continue
		}
		delete(out.items, i)
		if old, ok := held.items[i]; ok {
			out.items[i] = old
		}
	}
	return out
}

// early tells whether a taint would come before its toleration in the RuntimeClass of
// some pool. A pool that has no class of its own yet, or may not change it now, is not
// waited for.
func (f nodeFacts) early(taint corev1.Taint, pools []string) bool {
	for _, pool := range f.pools {
		if !slices.Contains(pools, pool.Name) || frozen(pool) {
			continue
		}
		class := f.classes[pool.Name]
		if class != nil && class.Labels["app.kubernetes.io/instance"] == pool.Name && !tolerates(class, taint) {
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
