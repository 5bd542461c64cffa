// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package evict

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

// Observe reads the pods of a node, and the PodDisruptionBudgets that may forbid their eviction, from the API server:
// pods may have come to the node since its cordon.
func (r *Refusals) Observe(ctx context.Context, live client.Reader, node string, cordoned time.Time) (*drain.Input, error) {
	out := &drain.Input{Node: node, Cordoned: cordoned, Refused: r.memory.Get(node)}
	var err error
	if out.Pods, err = Pods(ctx, live, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, pod := range out.Pods {
		if drain.Stays(pod) || seen[pod.Namespace] {
			continue
		}
		seen[pod.Namespace] = true
		of, err := budgets(ctx, live, pod.Namespace)
		if err != nil {
			return nil, err
		}
		out.Budgets = append(out.Budgets, of...)
	}
	return out, nil
}

// budgets returns the PodDisruptionBudgets of a namespace. Their pods are read only if there are any.
func budgets(ctx context.Context, live client.Reader, namespace string) ([]drain.Budget, error) {
	list := &policyv1.PodDisruptionBudgetList{}
	if err := live.List(ctx, list, client.InNamespace(namespace)); err != nil || len(list.Items) == 0 {
		return nil, err
	}
	pods, err := Pods(ctx, live, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	var out []drain.Budget
	for i := range list.Items {
		out = append(out, drain.NewBudget(&list.Items[i], pods))
	}
	return out, nil
}

const pageSize = 500

// Pods reads pods page by page.
func Pods(ctx context.Context, live client.Reader, options ...client.ListOption) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	next := ""
	for {
		list := &corev1.PodList{}
		if err := live.List(ctx, list, append(options, client.Limit(pageSize), client.Continue(next))...); err != nil {
			return nil, fmt.Errorf("list pods: %w", err)
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
		if next = list.Continue; next == "" {
			return out, nil
		}
	}
}
