// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// Establish returns a patch that withdraws a pod's permission to start on an empty volume, as the member has data now.
// If show is true, the patch also adds the label by which the client Service selects the pod.
func Establish(m model.Member, show bool) kit.Patch {
	to := model.StartAs(etcdstart.Established, m.ID)
	change := PodPatch{Pod: m.Pod, Intent: to}
	if m.Start() != to {
		change.Annotate(model.StartAnnotation, to)
	}
	if show {
		change.Intent += " " + model.VoterLabel
		change.Label(model.VoterLabel, model.IsVoter)
	}
	return change.Patch()
}

// ChangeVersion returns a patch that changes the etcd version of a running pod: the kubelet stops etcd and starts the
// new image on the same volume.
func ChangeVersion(c *etcdv1beta2.EtcdCluster, m model.Member, version string) kit.Patch {
	change := PodPatch{Pod: m.Pod, Intent: version}
	change.Annotate(etcdv1beta2.VersionAnnotation, version)
	change.run(image(c, version))
	return change.Patch()
}

// Repairs returns patches that undo manual changes to the pods of members: to the labels that Services and the
// disruption budget select by, and to the version annotation.
func Repairs(c *etcdv1beta2.EtcdCluster, members []model.Member) []kit.Patch {
	var out []kit.Patch
	for _, m := range members {
		if m.Pod == nil || m.Pod.DeletionTimestamp != nil || m.Patched {
			continue
		}
		change, fixed := PodPatch{Pod: m.Pod}, FixedLabels(c, m)
		for _, key := range slices.Sorted(maps.Keys(fixed)) {
			if m.Pod.Labels[key] != fixed[key] {
				change.Label(key, fixed[key])
				change.Intent += " " + key
			}
		}
		if m.Healthy && m.Version == versions.Desired(c) && model.VersionOf(m.Pod) != versions.Desired(c) && !m.Outdated {
			change.Annotate(etcdv1beta2.VersionAnnotation, versions.Desired(c))
			// Usually the pod's spec already has this image. It has another image only if the image was changed
			// manually and the kubelet has not restarted etcd yet.
			change.run(image(c, versions.Desired(c)))
			change.Intent += " " + versions.Desired(c)
		}
		if len(change.steps) > 0 {
			out = append(out, change.Patch())
		}
	}
	return out
}

// FixedLabels returns the labels that every pod of the member must have.
func FixedLabels(c *etcdv1beta2.EtcdCluster, m model.Member) map[string]string {
	out := model.Labels(c)
	out[common.OwnerLabel], out[etcdv1beta2.NodeLabel] = string(c.UID), m.Name
	return out
}

// NoteResources returns a patch that records the spec's resources in a pod's annotations, before opcrew resizes the
// pod.
func NoteResources(c *etcdv1beta2.EtcdCluster, m model.Member) kit.Patch {
	change := PodPatch{Pod: m.Pod, Intent: settings.Hash(c)}
	change.Annotate(model.SettingsAnnotation, settings.Hash(c))
	change.Annotate(settings.ResizedAnnotation, settings.Hash(c))
	change.Annotate(settings.ResourcesAnnotation, settings.EncodeJSON(c.Spec.Pod.Resources))
	return change.Patch()
}
