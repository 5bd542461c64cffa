// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// outages counts the nodes that are unavailable, from its own watch of Nodes. It knows nothing of the operator's rules.
type outages struct {
	down   map[string]bool
	seen   map[string]bool
	worst  int
	cancel context.CancelFunc
	ended  chan struct{}
	ready  chan struct{}
}

// watchOutages watches nodes until stop is called. It returns when it has seen n nodes.
func watchOutages(t *testing.T, n int) *outages {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	o := &outages{down: map[string]bool{}, seen: map[string]bool{}, cancel: cancel, ended: make(chan struct{}), ready: make(chan struct{})}
	watch, err := env.Client.Watch(ctx, &corev1.NodeList{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(o.ended)
		defer watch.Stop()
		for event := range watch.ResultChan() {
			if node, ok := event.Object.(*corev1.Node); ok {
				o.note(node, n)
			}
		}
		if ctx.Err() == nil {
			t.Error("expected the watch of nodes to last as long as the measurement")
		}
	}()
	<-o.ready
	return o
}

func (o *outages) note(node *corev1.Node, n int) {
	o.seen[node.Name], o.down[node.Name] = true, isOut(node)
	if len(o.seen) == n && o.ready != nil {
		close(o.ready)
		o.ready = nil
	}
	now := 0
	for _, out := range o.down {
		if out {
			now++
		}
	}
	o.worst = max(o.worst, now)
}

// isOut reports whether pods of a node may be disturbed: it is cordoned, not ready, or changes its configuration.
func isOut(node *corev1.Node) bool {
	if node.Spec.Unschedulable || node.Annotations[mcfgv1.DesiredConfigAnnotation] != node.Annotations[mcfgv1.CurrentConfigAnnotation] {
		return true
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionTrue
		}
	}
	return true
}

// stop ends the watch, and returns the largest number of nodes that were unavailable at once.
func (o *outages) stop() int {
	o.cancel()
	<-o.ended
	return o.worst
}
