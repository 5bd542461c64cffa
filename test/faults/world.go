// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// World creates the objects that exist before a workload starts. They are deleted after the workload.
type World struct {
	*User
	t   *testing.T
	env *testenv.Env
}

// Await waits until check returns nil, for effects that the server produces asynchronously.
func (w *World) Await(expectation string, check func(ctx context.Context, c client.Client) error) {
	eventually.True(w.t, time.Minute, expectation, func() error { return check(w.t.Context(), w.env.Client) })
}

// Nodes creates simulated nodes, named prefix-0 and so on. It waits until Kubernetes has removed the taints that every
// new node has for a moment.
func (w *World) Nodes(n int, prefix string, labels map[string]string) []string {
	names := w.env.Nodes(w.t, n, testenv.NodeSpec{Prefix: prefix, Labels: labels, Mutate: grown})
	eventually.True(w.t, eventually.Long, "new nodes have no taints of Kubernetes any more", func() error {
		nodes := &corev1.NodeList{}
		if err := w.env.Client.List(w.t.Context(), nodes); err != nil {
			return err
		}
		for i := range nodes.Items {
			for _, taint := range nodes.Items[i].Spec.Taints {
				if strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
					return fmt.Errorf("node %s has the taint %s", nodes.Items[i].Name, taint.Key)
				}
			}
		}
		return nil
	})
	return names
}

// grown sets the fields of a new node that Kubernetes sets a moment later. Otherwise Kubernetes would change the node
// in the middle of a workload.
func grown(node *corev1.Node) {
	node.Labels["beta.kubernetes.io/arch"] = node.Labels[corev1.LabelArchStable]
	node.Labels["beta.kubernetes.io/os"] = node.Labels[corev1.LabelOSStable]
	node.Annotations["node.alpha.kubernetes.io/ttl"] = "0"
}
