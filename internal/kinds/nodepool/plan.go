// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// finalizer keeps a pool until every node is as it was before.
const finalizer = "opcrew.io/nodepool"

// Plan declares the RuntimeClass, or lets go of a pool that holds nothing any more.
// What nodes shall carry is planned by the nodeReconciler.
func (r *poolReconciler) Plan(pool *nodesv1.NodePool, f facts, _ time.Time) kit.Plan {
	if pool.DeletionTimestamp != nil {
		if len(f.nodes) == 0 && f.held == 0 {
			return kit.Plan{Release: finalizer}
		}
		return kit.Plan{}
	}
	return kit.Plan{
		Hold:      dryRun(pool),
		Finalizer: finalizer,
		Children: []ensure.Child{{
			Object:    runtimeClass(pool, selectorLabels(pool, f), tolerations(pool, f)),
			ReplaceOn: []string{"handler"},
		}},
	}
}

// selectorLabels are those by which the RuntimeClass selects nodes, beside the role
// label: a label that some member carries otherwise would keep pods from that member,
// so it is left out until the conflict is over.
func selectorLabels(pool *nodesv1.NodePool, f facts) map[string]string {
	labels := map[string]string{}
	for key, value := range pool.Spec.Labels {
		labels[key] = string(value)
	}
	for _, c := range conflictsOf(pool.Name, f) {
		if c.Kind == nodesv1.ConflictLabel {
			delete(labels, c.Key)
		}
	}
	labels[pool.RoleLabel()] = ""
	return labels
}

// tolerations are for the pool's own taints and for those that other pools have on
// nodes that they share with it: else no pod of either would ever run there.
//
// Those for NoExecute hold for every value: a running pod keeps the tolerations that it
// was made with, and a new value of the taint would evict the pool's own pods.
func tolerations(pool *nodesv1.NodePool, f facts) []corev1.Toleration {
	var out []corev1.Toleration
	add := func(t corev1.Taint) {
		toleration := corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect}
		if t.Effect == corev1.TaintEffectNoExecute {
			toleration.Operator, toleration.Value = corev1.TolerationOpExists, ""
		}
		if !slices.Contains(out, toleration) {
			out = append(out, toleration)
		}
	}
	for _, t := range pool.Spec.Taints {
		add(corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	own := len(out)
	for _, m := range f.nodes {
		if !m.belongs {
			continue
		}
		for i, e := range m.desired.items {
			if i.kind == nodesv1.ConflictTaint {
				add(i.taint(e.Value))
			}
		}
	}
	slices.SortFunc(out[own:], func(a, b corev1.Toleration) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Value, b.Value))
	})
	return out
}
