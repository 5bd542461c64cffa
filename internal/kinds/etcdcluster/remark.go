// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// remarks are the patches by which pods of members get back what someone changed by hand: the
// labels that Services and the disruption budget go by, and the version that the contract has in an
// annotation. Nothing rests on them: where they are refused or do not stick, all else goes on.
func remarks(c *etcdv1beta2.EtcdCluster, members []member) []kit.Patch {
	var out []kit.Patch
	for _, m := range members {
		if m.pod == nil || m.pod.DeletionTimestamp != nil || m.patched {
			continue
		}
		change, fixed := podChange{pod: m.pod}, fixedLabels(c, m)
		for _, key := range slices.Sorted(maps.Keys(fixed)) {
			if m.pod.Labels[key] != fixed[key] {
				change.label(key, fixed[key])
				change.intent += " " + key
			}
		}
		if m.healthy && m.version == wanted(c) && versionOf(m.pod) != wanted(c) && !outdated(c, m) {
			change.annotate(etcdv1beta2.VersionAnnotation, wanted(c))
			change.run(image(c, wanted(c))) // the same that it runs, unless it was about to change
			change.intent += " " + wanted(c)
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
