// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// Unscheduled reads the volume claims of pods that have no node. The result is keyed by pod name.
func (r Reader) Unscheduled(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, pods map[string]*corev1.Pod) (map[string]*corev1.PersistentVolumeClaim, error) {
	out := map[string]*corev1.PersistentVolumeClaim{}
	for name, pod := range pods {
		if pod.Spec.NodeName != "" || !desired.Persistent(c) {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := r.Cached.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: desired.DataVolume + "-" + name}, claim)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read the claim of pod %s: %w", name, err)
		}
		if err == nil {
			out[name] = claim
		}
	}
	return out, nil
}
