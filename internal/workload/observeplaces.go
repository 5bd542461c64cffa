// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/opcrew/opcrew/internal/kit"
)

// ObservePlaces returns the nodes and zones of the pods that have a node and are not being deleted. reader must be a
// cache that contains nodes.
func ObservePlaces(ctx context.Context, reader client.Reader, pods []*corev1.Pod) ([]Place, error) {
	var out []Place
	for _, pod := range Bound(pods) {
		node := &corev1.Node{}
		if err := reader.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read node %s: %w", pod.Spec.NodeName, err)
		}
		out = append(out, Place{Member: pod.Name, Node: pod.Spec.NodeName, Zone: Zone(node)})
	}
	return out, nil
}

// Zone returns the zone of a node; "" if it has none.
func Zone(node *corev1.Node) string { return node.Labels[corev1.LabelTopologyZone] }

// ZoneChanged returns a predicate that passes new nodes and nodes whose zone changed, but not heartbeats. It also drops
// the nodes of the initial list, because the controller reconciles every object at that time anyway.
func ZoneChanged() predicate.Predicate {
	changed := kit.Updates(func(e ctrlevent.UpdateEvent) bool {
		return Zone(e.ObjectOld.(*corev1.Node)) != Zone(e.ObjectNew.(*corev1.Node))
	})
	changed.CreateFunc = func(e ctrlevent.CreateEvent) bool { return !e.IsInInitialList }
	changed.DeleteFunc = func(ctrlevent.DeleteEvent) bool { return false }
	return changed
}

// ForPodsOn returns an event handler for nodes. It enqueues the requests that ofPod returns for each pod on the node.
func ForPodsOn(reader client.Reader, ofPod handler.MapFunc) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, node client.Object) []reconcile.Request {
		pods := &corev1.PodList{}
		if err := reader.List(ctx, pods, client.UnsafeDisableDeepCopy); err != nil {
			return nil // this list only fails when the cache has been stopped
		}
		var out []reconcile.Request
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName == node.GetName() {
				out = append(out, ofPod(ctx, &pods.Items[i])...)
			}
		}
		return out
	})
}
