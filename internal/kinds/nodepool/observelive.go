// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
)

// pageSize is the number of objects per page in lists from the API server.
const pageSize = 500

// heldLive counts the nodes whose ledger annotation names the NodePool, according to the API server. If opcrew trusted
// a stale cache and released a deleted pool, the settings of the pool would stay on nodes forever.
func (r *poolReconciler) heldLive(ctx context.Context, pool string) (int, error) {
	count := 0
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	for {
		if err := r.Live.List(ctx, list, client.Limit(pageSize), client.Continue(list.Continue)); err != nil {
			return 0, fmt.Errorf("list nodes at the API server: %w", err)
		}
		for i := range list.Items {
			node := &corev1.Node{ObjectMeta: list.Items[i].ObjectMeta}
			if nodestate.LedgerOf(node).Mentions(pool) {
				count++
			}
		}
		if list.Continue == "" {
			return count, nil
		}
	}
}

// livePods reads all pods from the API server, page by page, and keeps the fields that a preview needs. opcrew does not
// cache pods for this kind, because only a dry run with a NoExecute taint needs them.
func (r *poolReconciler) livePods(ctx context.Context) ([]corev1.Pod, error) {
	var pods []corev1.Pod
	list := &corev1.PodList{}
	for {
		if err := r.Live.List(ctx, list, client.Limit(pageSize), client.Continue(list.Continue)); err != nil {
			return nil, fmt.Errorf("list pods: %w", err)
		}
		for i := range list.Items {
			pod := &list.Items[i]
			pods = append(pods, corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
				Spec:       corev1.PodSpec{NodeName: pod.Spec.NodeName, Tolerations: pod.Spec.Tolerations},
				Status:     corev1.PodStatus{Phase: pod.Status.Phase},
			})
		}
		if list.Continue == "" {
			return pods, nil
		}
	}
}
