// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// runtimeClass returns the RuntimeClass of a NodePool. A pod that names this RuntimeClass gets its node selector,
// tolerations and overhead at admission.
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
	if fixed := podFixed(pool.Spec.Overhead); len(fixed) > 0 {
		class.WithOverhead(nodev1ac.Overhead().WithPodFixed(fixed))
	}
	return class
}

// podFixed converts the overhead in the spec. The CRD has already validated its amounts.
func podFixed(overhead *nodesv1.Overhead) corev1.ResourceList {
	if overhead == nil {
		return nil
	}
	out := corev1.ResourceList{}
	for name, amount := range overhead.PodFixed {
		if quantity, err := resource.ParseQuantity(string(amount)); err == nil {
			out[name] = quantity
		}
	}
	return out
}
