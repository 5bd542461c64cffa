// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// realSize gives a node the 50 images that a kubelet reports.
func realSize(node *corev1.Node) {
	for i := range 50 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
			Names: []string{fmt.Sprintf("example.com/team/service-%02d@sha256:%064d", i, i), fmt.Sprintf("example.com/team/service-%02d:v1.2.%d", i, i)}, SizeBytes: int64(i) << 20,
		})
	}
}

func TestAPoolCostsOneWriteANode(t *testing.T) {
	names := env.Nodes(t, *nodes, testenv.NodeSpec{
		Prefix: "bench", Labels: map[string]string{nodesv1.RolePrefix + "bench": ""}, Mutate: realSize,
	})
	floor := bareNodes(t, names)

	config, user := account(t, operator), testenv.ServiceAccountUser(namespace, operator)
	before := heap()
	stop := start(t, config, nodepool.Kind())
	env.Settle(t, user, time.Second, time.Minute)
	mark, begin := env.Audit.Mark(t), time.Now()
	pool := &nodesv1.NodePool{Spec: nodesv1.NodePoolSpec{
		Labels: map[string]nodesv1.LabelValue{"example.com/tier": "gold"},
		Taints: []nodesv1.Taint{{Key: "example.com/tier", Value: "gold", Effect: corev1.TaintEffectPreferNoSchedule}},
	}}
	pool.Name = "bench"
	if err := env.Client.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, 5*time.Minute, "every node carries what the pool wants", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
			return err
		}
		if int(pool.Status.UpdatedNodes) != *nodes {
			return fmt.Errorf("%d do", pool.Status.UpdatedNodes)
		}
		return nil
	})
	took := time.Since(begin)
	env.Settle(t, user, time.Second, time.Minute)
	writes := env.Audit.Since(t, mark).By(user).Writes().Counted()
	if got := len(writes.On("nodes")); got != *nodes {
		t.Errorf("expected 1 write a node, %d in all, got %d", *nodes, got)
	}
	t.Logf("NodePool: %d nodes in %s, bare client %s: ratio %.2f; writes %v; heap %.0f MiB (both ends and the test)",
		*nodes, took.Round(time.Millisecond), floor.Round(time.Millisecond), took.Seconds()/floor.Seconds(), writes.Tally(), heap()-before)
	env.Heartbeat(t, names...)
	resting(t, config, nodepool.Kind(), stop)
}

// bareNodes makes the same write of every node with nothing around it, and takes it back.
func bareNodes(t *testing.T, names []string) time.Duration {
	t.Helper()
	c := env.ClientFor(t, account(t, bare))
	patch := func(ops string) time.Duration {
		return concurrently(t, len(names), func(ctx context.Context, i int) error {
			node := &corev1.Node{}
			node.Name = names[i]
			return c.Patch(ctx, node, client.RawPatch(types.JSONPatchType, []byte(ops)), client.FieldOwner("bare"))
		})
	}
	took := patch(`[{"op":"add","path":"/metadata/labels/example.com~1tier","value":"gold"},
		{"op":"add","path":"/metadata/annotations/example.com~1ledger","value":"{\"pools\":[\"bench\"]}"},
		{"op":"add","path":"/spec/taints","value":[{"key":"example.com/tier","value":"gold","effect":"PreferNoSchedule"}]}]`)
	patch(`[{"op":"remove","path":"/metadata/labels/example.com~1tier"},{"op":"remove","path":"/metadata/annotations/example.com~1ledger"},
		{"op":"remove","path":"/spec/taints"}]`)
	return took
}
