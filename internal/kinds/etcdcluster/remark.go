// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// remarks are the patches by which pods of members get back what somebody changed by hand: the
// labels that Services and the disruption budget go by, and the version that the contract has in an
// annotation. Nothing waits for them: where they do not stick, all else goes on.
func remarks(c *etcdv1beta2.EtcdCluster, members []member) []kit.Patch {
	var out []kit.Patch
	for _, m := range members {
		if m.pod == nil || m.pod.DeletionTimestamp != nil || m.patched {
			continue
		}
		change, wanted := podChange{pod: m.pod}, fixedLabels(c, m)
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			if m.pod.Labels[key] != wanted[key] {
				change.label(key, wanted[key])
				change.intent += " " + key
			}
		}
		if runs := imageVersion(c, m.pod); runs != "" && runs != versionOf(m.pod) {
			change.annotate(etcdv1beta2.VersionAnnotation, runs)
			change.intent += " " + runs
		}
		if len(change.steps) > 0 {
			out = append(out, change.patch())
		}
	}
	return out
}

// fixedLabels are those that a member's pod has all its life.
func fixedLabels(c *etcdv1beta2.EtcdCluster, m member) map[string]string {
	out := labels(c)
	out[common.OwnerLabel], out[etcdv1beta2.NodeLabel] = string(c.UID), m.name
	return out
}

// imageVersion is the version that a pod's image is of; empty where it is not one of the cluster's.
func imageVersion(c *etcdv1beta2.EtcdCluster, pod *corev1.Pod) string {
	for _, inside := range pod.Spec.Containers {
		if version, ours := strings.CutPrefix(inside.Image, image(c, "")); inside.Name == container && ours {
			return version
		}
	}
	return ""
}
