// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ledger is the annotation in which the bare client (the baseline without an operator) records which NodePools and
// labels a node has. opcrew records the same in its own annotation.
const ledger = "example.com/ledger"

// nodeFloor contains the times that the bare client (the baseline without an operator) needs for the two changes of all
// nodes.
type nodeFloor struct{ join, change floor }

// bareNodes makes opcrew's writes for NodePools without an operator, and then reverts them. For every pool it writes a
// finalizer, a RuntimeClass and two statuses, and for every node a patch. It also watches the nodes, as an operator
// does.
func bareNodes(t *testing.T, names []string) nodeFloor {
	t.Helper()
	defer clearFleet(t)
	return nodeFloor{join: bareJoin(t, names), change: bareChange(t, names)}
}

func bareJoin(t *testing.T, names []string) floor {
	t.Helper()
	nodes := carrying(t, "gold")
	defer nodes.stop()
	return measureFloor(t, func(c client.Client) {
		createPools(t, &beginnings{})
		barePools(t, c, barePool)
		patchNodes(t, c, names, joinPatch)
		barePools(t, c, bareStatus(1))
		nodes.done(len(names))
	})
}

func bareChange(t *testing.T, names []string) floor {
	t.Helper()
	nodes := carrying(t, "silver")
	defer nodes.stop()
	return measureFloor(t, func(c client.Client) {
		changePools(t)
		barePools(t, c, func(ctx context.Context, c client.Client, i int) error {
			class := &nodev1.RuntimeClass{}
			class.Name = poolName(i)
			return c.Patch(ctx, class, mergePatch(`{"scheduling":{"nodeSelector":{%q:"silver"}}}`, tier))
		})
		patchNodes(t, c, names, changePatch)
		barePools(t, c, bareStatus(2))
		nodes.done(len(names))
	})
}

func (f nodeFloor) faster(g nodeFloor) nodeFloor {
	return nodeFloor{faster(f.join, g.join), faster(f.change, g.change)}
}

const (
	joinPatch = `[{"op":"test","path":"/metadata/labels/example.com~1tier","value":null},
		{"op":"add","path":"/metadata/labels/example.com~1tier","value":"gold"},
		{"op":"add","path":"/metadata/annotations/example.com~1ledger","value":"{\"pools\":[\"bench\"],\"labels\":{\"example.com/tier\":\"gold\"}}"},
		{"op":"add","path":"/spec/taints","value":[{"key":"example.com/tier","value":"gold","effect":"PreferNoSchedule"}]}]`
	changePatch = `[{"op":"test","path":"/metadata/labels/example.com~1tier","value":"gold"},
		{"op":"replace","path":"/metadata/labels/example.com~1tier","value":"silver"},
		{"op":"replace","path":"/metadata/annotations/example.com~1ledger","value":"{\"pools\":[\"bench\"],\"labels\":{\"example.com/tier\":\"silver\"}}"}]`
)

func patchNodes(t *testing.T, c client.Client, names []string, patch string) {
	t.Helper()
	concurrently(t, len(names), func(ctx context.Context, i int) error {
		node := &corev1.Node{}
		node.Name = names[i]
		return c.Patch(ctx, node, client.RawPatch(types.JSONPatchType, []byte(patch)), client.FieldOwner(bare))
	})
}

func barePools(t *testing.T, c client.Client, do func(context.Context, client.Client, int) error) {
	t.Helper()
	concurrently(t, *pools, func(ctx context.Context, i int) error { return do(ctx, c, i) })
}

func barePool(ctx context.Context, c client.Client, i int) error {
	if err := c.Patch(ctx, newPool(i), mergePatch(`{"metadata":{"finalizers":["example.com/bare"]}}`)); err != nil {
		return err
	}
	class := &nodev1.RuntimeClass{Handler: "runc", Scheduling: &nodev1.Scheduling{
		NodeSelector: map[string]string{tier: "gold"},
		Tolerations:  []corev1.Toleration{{Key: tier, Value: "gold", Effect: corev1.TaintEffectPreferNoSchedule}},
	}}
	class.Name = poolName(i)
	if err := c.Create(ctx, class); err != nil {
		return err
	}
	return bareStatus(0)(ctx, c, i)
}

func bareStatus(nodeCount int32) func(context.Context, client.Client, int) error {
	return func(ctx context.Context, c client.Client, i int) error {
		return c.Status().Patch(ctx, newPool(i), mergePatch(`{"status":{"nodeCount":%d,"readyNodes":%d}}`, nodeCount, nodeCount))
	}
}
