// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/lineage"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
)

// lineage collects what is known about the cluster before and after a restore, for package lineage.
func (f facts) lineage(c *etcdv1beta2.EtcdCluster, members []model.Member) *lineage.Input {
	pods := slices.SortedFunc(maps.Values(f.pods), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return &lineage.Input{Cluster: c, Now: f.now, Nodes: f.nodes, Pods: pods, Members: members, Fresh: f.fresh(c), Others: f.others}
}

// hideFormer returns patches that take pods from before a restore out of the client Service, while they still exist.
func (p planner) hideFormer() []kit.Patch {
	c, d := p.c, p.d
	var out []kit.Patch
	around := p.lineage(c, d.members)
	for _, pod := range p.others.Pods {
		if model.LineageOf(c, pod.Name) != model.Former || pod.Labels[model.VoterLabel] != model.IsVoter || pod.DeletionTimestamp != nil || p.patched[pod.Name] || around.IsPast(pod) {
			continue
		}
		change := build.PodPatch{Pod: pod, Intent: "former"}
		change.Label(model.VoterLabel, model.IsFormer)
		out = append(out, change.Patch())
	}
	return out
}
