// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	// FakeNode is an annotation. kwok simulates every node on which it has the value "fake".
	FakeNode = "kwok.x-k8s.io/node"

	// MissingImage is an image that no simulated node can pull. Its pods stay Pending with ImagePullBackOff. Pods with
	// any other image become Ready at once.
	MissingImage = "missing.invalid/image:v1"

	// writers is how many requests run concurrently when a helper writes many objects.
	writers = 8
)

// NodeSpec describes the nodes that Nodes creates.
type NodeSpec struct {
	// Prefix is the prefix of the node names, which are Prefix-0, Prefix-1 and so on. The default is "node".
	Prefix string
	Labels map[string]string
	Taints []corev1.Taint
	// Mutate changes a node, including its status, before Nodes creates it. It may be nil.
	Mutate func(*corev1.Node)
}

// Nodes creates n simulated nodes and waits until all are Ready. It returns their names. It deletes the nodes when the
// test ends.
func (e *Env) Nodes(t testing.TB, n int, spec NodeSpec) []string {
	t.Helper()
	e.Simulate(t)
	nodes := make([]*corev1.Node, n)
	names := make([]string, n)
	for i := range nodes {
		nodes[i] = newNode(spec, i)
		names[i] = nodes[i].Name
	}
	t.Cleanup(func() { e.removeNodes(t, nodes) })
	err := inParallel(t.Context(), nodes, func(ctx context.Context, node *corev1.Node) error { return e.Client.Create(ctx, node) })
	if err != nil {
		t.Fatalf("creating %d nodes: %v", n, err)
	}
	e.awaitNodes(t, names, corev1.ConditionTrue)
	return names
}

// newNode returns a node with the resources of a medium-sized machine, so that the scheduler places pods on it.
func newNode(spec NodeSpec, i int) *corev1.Node {
	if spec.Prefix == "" {
		spec.Prefix = "node"
	}
	name := fmt.Sprintf("%s-%d", spec.Prefix, i)
	size := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{FakeNode: "fake"},
			Labels:      map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
		},
		Spec: corev1.NodeSpec{Taints: slices.Clone(spec.Taints)},
		Status: corev1.NodeStatus{Capacity: size, Allocatable: size, Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.100.%d.%d", i/250, i%250+1)},
			{Type: corev1.NodeHostName, Address: name},
		}},
	}
	maps.Copy(node.Labels, spec.Labels)
	if spec.Mutate != nil {
		spec.Mutate(node)
	}
	return node
}

// awaitNodes waits until the nodes have the status. It lists all nodes, because one list request is cheaper than a
// request per node.
func (e *Env) awaitNodes(t testing.TB, names []string, want corev1.ConditionStatus) {
	t.Helper()
	what := fmt.Sprintf("all of %d simulated nodes have Ready=%s", len(names), want)
	eventually.True(t, time.Minute, what, func() error {
		list := &corev1.NodeList{}
		if err := e.Client.List(t.Context(), list); err != nil {
			return err
		}
		have := map[string]corev1.ConditionStatus{}
		for i := range list.Items {
			have[list.Items[i].Name] = nodeReady(&list.Items[i])
		}
		waiting := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return have[name] == want })
		if len(waiting) > 0 {
			return fmt.Errorf("%d nodes are not; the first is %s with Ready=%q", len(waiting), waiting[0], have[waiting[0]])
		}
		return nil
	})
}

func nodeReady(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return ""
}

func (e *Env) removeNodes(t testing.TB, nodes []*corev1.Node) {
	err := inParallel(withoutCancel(t), nodes, func(ctx context.Context, node *corev1.Node) error {
		return client.IgnoreNotFound(e.Client.Delete(ctx, node))
	})
	if err != nil {
		t.Errorf("removing %d nodes: %v", len(nodes), err)
	}
}

// inParallel calls do for every item, several items concurrently. It returns the first error.
func inParallel[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, item := range items {
		group.Go(func() error { return do(ctx, item) })
	}
	return group.Wait()
}
