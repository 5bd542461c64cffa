// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bareMachines patches every node as often as the operator writes for a node, and once as its machine agent. It waits
// for no agent and for no budget, so no rollout can be as fast.
func bareMachines(t *testing.T, names []string, writes int) time.Duration {
	t.Helper()
	return measureFloor(t, func(c client.Client) {
		for i := range writes + 1 {
			concurrently(t, len(names), func(ctx context.Context, at int) error {
				node := &corev1.Node{}
				node.Name = names[at]
				return c.Patch(ctx, node, mergePatch(`{"metadata":{"annotations":{%q:"%d"}}}`, ledger, i))
			})
		}
	}).took
}
