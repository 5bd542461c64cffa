// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// counts reports whether a NodePool takes part in the decision about a node. A deleted pool does so only while it is
// paused. A frozen pool (paused or in dry run) does so only if the ledger annotation names it, or if that annotation
// was lost and the node is a member of the pool. A pool that the node leaves does so until its pipeline has ended.
func counts(pool *nodesv1.NodePool, node *corev1.Node, held Ledger, marks Marks) bool {
	switch {
	case marks[pool.Name].Phase == Leaving:
		return true
	case pool.DeletionTimestamp != nil && !Paused(pool):
		return false
	case Frozen(pool):
		return held.Mentions(pool.Name) || held.recovered() && Belongs(pool, node, held)
	}
	return Belongs(pool, node, held)
}

// Frozen reports whether the NodePool is paused or in dry run, so that opcrew holds back its changes.
func Frozen(pool *nodesv1.NodePool) bool { return Paused(pool) || DryRun(pool) }

// Paused reports whether the annotation opcrew.io/paused stops all writes for the NodePool.
func Paused(pool *nodesv1.NodePool) bool {
	return common.IsSet(pool.Annotations, common.PausedAnnotation)
}

// DryRun reports whether the annotation opcrew.io/dry-run makes the NodePool only report its changes.
func DryRun(pool *nodesv1.NodePool) bool {
	return common.IsSet(pool.Annotations, common.DryRunAnnotation)
}

// Belongs reports whether a node is a member of a NodePool, by spec.nodeSelector or by a role label. Labels that pools
// set do not count. Otherwise a pool could keep its own members, or the members of another pool, forever.
func Belongs(pool *nodesv1.NodePool, node *corev1.Node, held Ledger) bool {
	role := pool.RoleLabel()
	if _, ok := node.Labels[role]; ok && !held.holds(labelItem(role)) {
		return true
	}
	if len(pool.Spec.NodeSelector) == 0 {
		return false
	}
	for key, value := range pool.Spec.NodeSelector {
		found, ok := node.Labels[key]
		if !ok || found != string(value) || held.holds(labelItem(key)) {
			return false
		}
	}
	return true
}

// settingsOf returns what a NodePool sets on its members. This includes the role label, so that the node selector of
// the RuntimeClass also finds members that joined by spec.nodeSelector. A node that leaves keeps what the pool has set,
// except the role label, so that no further pods of the pool get there.
func settingsOf(pool *nodesv1.NodePool, held Ledger, marks Marks) map[Item]string {
	leaves := marks[pool.Name].Phase == Leaving
	if Frozen(pool) || leaves {
		settings := held.settingsOf(pool.Name)
		if leaves {
			delete(settings, labelItem(pool.RoleLabel()))
		}
		return settings
	}
	settings := map[Item]string{}
	settings[labelItem(pool.RoleLabel())] = ""
	for key, value := range pool.Spec.Labels {
		settings[labelItem(key)] = string(value)
	}
	for key, value := range pool.Spec.Annotations {
		settings[annotationItem(key)] = string(value)
	}
	for _, t := range pool.Spec.Taints {
		settings[taintItem(t.Key, t.Effect)] = t.Value
	}
	return settings
}

// settingsOf returns what a NodePool has set on the node.
func (l Ledger) settingsOf(pool string) map[Item]string {
	settings := map[Item]string{}
	for i, e := range l.Items {
		if slices.Contains(e.Pools, pool) || len(e.Pools) == 0 {
			settings[i] = e.Value
		}
	}
	return settings
}

// byAge sorts pools by creation time, then by name, so that every process decides the same.
func byAge(pools []*nodesv1.NodePool) []*nodesv1.NodePool {
	return slices.SortedFunc(slices.Values(pools), func(a, b *nodesv1.NodePool) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}
