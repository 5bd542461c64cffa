// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/workload"
)

// Unlabelled describes a pod that has lost a label of the StatefulSet's selector; "" if there is none. The pod keeps
// the StatefulSet from creating a pod of the same name, and no event reports this.
func Unlabelled(ctx context.Context, reader client.Reader, c *redisv1alpha1.RedisEnterpriseCluster, members workload.Members) (string, error) {
	for _, name := range desired.Identity(c).Names(members.Replicas()) {
		if members.Pods[name] != nil {
			continue
		}
		pod := &corev1.Pod{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, pod); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("read pod %s: %w", name, err)
		}
		if missing := missingLabel(c, pod); pod.Name != "" && missing != "" {
			return fmt.Sprintf("pod %s exists but lacks a label of the StatefulSet's selector; restore the label: kubectl label --overwrite pod -n %s %s %s", name, c.Namespace, name, missing), nil
		}
	}
	return "", nil
}

// missingLabel returns the first label of the selector that a pod lacks, as key=value; "" if it has all of them.
func missingLabel(c *redisv1alpha1.RedisEnterpriseCluster, pod *corev1.Pod) string {
	selector := desired.Selector(c)
	for _, key := range desired.SortedKeys(selector) {
		if pod.Labels[key] != selector[key] {
			return key + "=" + selector[key]
		}
	}
	return ""
}
