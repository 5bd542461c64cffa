// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"slices"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/formation"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
)

// members returns the members of the cluster with their pods, claims and nodes, sorted by serial number. These are the
// members that etcd lists; before the cluster is formed, they are the first members.
func (f facts) members(c *etcdv1beta2.EtcdCluster) []model.Member {
	var out []model.Member
	judge := model.NewJudge(c, f.now, model.Decides(c, f.view))
	for _, m := range f.formation(c).Identities() {
		m.Pod, m.Claim = f.pods[m.Name], f.claims[m.Name]
		m.Status, m.Asked = f.view.Status[m.ID]
		m.Patched, m.Answers = f.patched[m.Name], m.Asked && m.Status.Err == nil
		m.Healthy, m.Version = f.view.Healthy(m.ID), m.Status.Version
		m.Runs = cmp.Or(m.Version, c.Status.CurrentVersion, model.VersionOf(m.Pod))
		m.Defragmenting = f.view.Work == steps.DefragmentationOf(m.Name)
		if f.unbound.Pod == m.Name {
			m.Unbound = f.unbound.Words
		}
		m.Client = c.ClientURL(m.Name)
		m.ResizeDue, m.ResizeNoted = settings.ResizeDue(c, m.Pod), settings.ResizeNoted(c, m.Pod)
		m.ClaimDiffers = volumes.Differs(c, m.Claim)
		m.Differs = settings.Differ(c, m.Pod)
		m.Outdated = m.Differs && !m.ResizeDue
		m.Superseded = m.ClaimDiffers != "" || !model.Persistent(c) && m.Outdated
		m.Node, m.Disk = model.NodeOfPod(f.nodes, m.Pod), f.disks[m.Name]
		m.Lost = judge.Lost(m)
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b model.Member) int {
		return cmp.Or(cmp.Compare(a.Serial, b.Serial), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// formation collects what is known about the first members, for package formation.
func (f facts) formation(c *etcdv1beta2.EtcdCluster) *formation.Input {
	return &formation.Input{
		Cluster: c, Now: f.now, View: f.view, Pods: f.pods, Claims: f.claims,
		BegunWith: f.begunWith, QuorumSince: f.quorumSince, LastPod: f.lastPod,
	}
}
