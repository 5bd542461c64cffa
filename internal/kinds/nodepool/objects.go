// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// runtimeClass builds the RuntimeClass by which pods come to the pool: a pod that
// names it gets its node selector, tolerations and overhead at admission.
func runtimeClass(pool *nodesv1.NodePool, selector map[string]string, tolerations []corev1.Toleration) *nodev1ac.RuntimeClassApplyConfiguration {
	scheduling := nodev1ac.Scheduling().WithNodeSelector(selector)
	for _, t := range tolerations {
		scheduling.WithTolerations(corev1ac.Toleration().
			WithKey(t.Key).WithOperator(t.Operator).WithValue(t.Value).WithEffect(t.Effect))
	}
	class := nodev1ac.RuntimeClass(pool.Name).
		WithLabels(map[string]string{
			"app.kubernetes.io/name":     "nodepool",
			"app.kubernetes.io/instance": pool.Name,
			"app.kubernetes.io/part-of":  "opcrew",
		}).
		WithHandler(pool.Handler()).
		WithScheduling(scheduling)
	if o := pool.Spec.Overhead; o != nil && len(o.PodFixed) > 0 {
		class.WithOverhead(nodev1ac.Overhead().WithPodFixed(o.PodFixed))
	}
	return class
}
