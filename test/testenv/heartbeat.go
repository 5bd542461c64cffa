// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// downAnnotation makes kwok report a simulated node as not ready (see kwok.yaml).
const downAnnotation = "testenv.opcrew.io/down"

// SetNodeReady makes a simulated node ready or not ready, as if its kubelet had reported it. It waits until the node's
// condition shows the change.
func (e *Env) SetNodeReady(t testing.TB, name string, ready bool) {
	t.Helper()
	value, want := `"true"`, corev1.ConditionFalse
	if ready {
		value, want = "null", corev1.ConditionTrue
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, downAnnotation, value)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := e.Client.Patch(t.Context(), node, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatalf("marking node %s: %v", name, err)
	}
	e.awaitNodes(t, []string{name}, want)
}

// Heartbeat makes nodes report their status, as kubelets do every few minutes. Only the time of the heartbeat changes.
func (e *Env) Heartbeat(t testing.TB, names ...string) {
	t.Helper()
	// The server merges conditions by type, so this keeps the other conditions.
	beat := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))
	err := inParallel(t.Context(), names, func(ctx context.Context, name string) error {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		return e.Client.Status().Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, beat))
	})
	if err != nil {
		t.Fatalf("heartbeat of %d nodes: %v", len(names), err)
	}
}
