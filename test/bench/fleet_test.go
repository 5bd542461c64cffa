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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
)

const (
	// tier is the label that the NodePools set on their nodes.
	tier = "example.com/tier"
	// batch is how many nodes makeFleet creates before it waits for them.
	batch = 1000
)

// makeFleet creates the nodes of all NodePools. Each node object is as large as that of a real node.
func makeFleet(t *testing.T) []string {
	t.Helper()
	var names []string
	for len(names) < *nodes {
		next := len(names)
		made := env.Nodes(t, min(batch, *nodes-next), testenv.NodeSpec{
			Prefix: fmt.Sprintf("bench%d", next/batch),
			Mutate: func(node *corev1.Node) {
				node.Labels[nodesv1.RolePrefix+poolName(next%*pools)] = ""
				next++
				addImages(node)
			},
		})
		names = append(names, made...)
	}
	return names
}

// addImages adds 50 images to the status of a node, as many as a kubelet reports.
func addImages(node *corev1.Node) {
	for i := range 50 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{SizeBytes: int64(i) << 20, Names: []string{
			fmt.Sprintf("example.com/team/service-%02d@sha256:%064d", i, i), fmt.Sprintf("example.com/team/service-%02d:v1.2.%d", i, i),
		}})
	}
}

func poolName(i int) string { return fmt.Sprintf("pool-%02d", i) }

func newPool(i int) *nodesv1.NodePool {
	pool := &nodesv1.NodePool{Spec: nodesv1.NodePoolSpec{
		Labels: map[string]nodesv1.LabelValue{tier: "gold"},
		Taints: []nodesv1.Taint{{Key: tier, Value: "gold", Effect: corev1.TaintEffectPreferNoSchedule}},
	}}
	pool.Name = poolName(i)
	return pool
}

func createPools(t *testing.T, begun *beginnings) {
	t.Helper()
	concurrently(t, *pools, func(ctx context.Context, i int) error {
		begun.now(poolName(i))
		return env.Client.Create(ctx, newPool(i))
	})
}

// changePools sets a new value for the label of every NodePool.
func changePools(t *testing.T) {
	t.Helper()
	concurrently(t, *pools, func(ctx context.Context, i int) error {
		return env.Client.Patch(ctx, newPool(i), mergePatch(`{"spec":{"labels":{%q:"silver"}}}`, tier))
	})
}

func deletePools(t *testing.T) {
	t.Helper()
	concurrently(t, *pools, func(ctx context.Context, i int) error { return env.Client.Delete(ctx, newPool(i)) })
}

func mergePatch(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}

// poolsReady records when each NodePool becomes Ready.
func poolsReady(t *testing.T) *observer {
	t.Helper()
	return observe(t, &nodesv1.NodePoolList{}, func(pool client.Object) bool {
		return meta.IsStatusConditionTrue(pool.(*nodesv1.NodePool).Status.Conditions, nodesv1.NodePoolReady)
	})
}

// carrying records when the label of each node gets the value. If value is "", it records when each node loses the
// label.
func carrying(t *testing.T, value string) *observer {
	t.Helper()
	return observe(t, nodeMetadata(), func(node client.Object) bool { return node.GetLabels()[tier] == value }).saw(t, *nodes)
}

func nodeMetadata() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	return list
}

// nodeNoise changes node fields that NodePools do not use: the message of a condition, and the kernel version.
func nodeNoise(t *testing.T, names []string) {
	t.Helper()
	noise := fmt.Appendf(nil, `{"status":{"nodeInfo":{"kernelVersion":"6.1.%d"},"conditions":[{"type":"MemoryPressure","message":"seen at %s"}]}}`,
		time.Now().Unix(), time.Now().Format(time.RFC3339Nano))
	concurrently(t, len(names), func(ctx context.Context, i int) error {
		node := &corev1.Node{}
		node.Name = names[i]
		return env.Client.Status().Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, noise))
	})
}
