// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Differ reports whether a pod was created with other settings than the spec has now. The etcd version does not count.
func Differ(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return pod != nil && pod.Annotations[model.SettingsAnnotation] != Hash(c)
}
