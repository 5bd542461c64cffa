// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// planRestore plans the NetworkPolicy and the objects of the restored member. The policy comes first, so that the pod
// is never unprotected.
func (p planner) planRestore() kit.Plan {
	plan := p.planSeed()
	if len(plan.Children) > 0 {
		plan.Children = slices.Insert(plan.Children, 0, ensure.Child{Object: build.NetworkPolicy(p.c, p.operator)})
	}
	return plan
}

// planSeed plans the objects of the restored member. It leaves the old cluster unchanged, except that it recreates
// missing pods of old members on their claims.
func (p planner) planSeed() kit.Plan {
	c := p.c
	plan, in := kit.Plan{Again: underWay, Children: p.comeBack()}, p.restoreInput(c)
	if in.IsCalledOff() || p.needs != nil {
		return plan
	}
	plan.Children = append(plan.Children, ensure.Child{Object: build.PeerService(c)}, ensure.Child{Object: build.Connection(c)})
	m := in.Seed()
	if model.Persistent(c) {
		plan.Children = append(plan.Children, ensure.Child{Object: p.builder(c).Claim(m), Once: true})
	}
	if in.RecreatesSeed() {
		plan.Prune = []client.ObjectList{&corev1.PodList{}}
		plan.Stays = func(object client.Object) bool { return object.GetName() != m.Name }
		return plan
	}
	from := *in.Origin()
	if pod := p.builder(c).SeedPod(from, m); pod != nil && (m.Pod == nil || m.Pod.DeletionTimestamp == nil) {
		plan.Children = append(plan.Children, ensure.Child{Object: pod, Once: true, Trust: from.Trust()})
	}
	return plan
}

// comeBack returns the missing pods of old members that still have claims, during a restore. In a recovery it returns
// no pods: the old members have no quorum, and the recovery replaces them.
func (p planner) comeBack() []ensure.Child {
	c := p.c
	if c.Status.ClusterID == "" || c.Status.Restore.Recovery != nil {
		return nil
	}
	p.d.invalid, p.d.target = checkSpec(c, p.unsafe, p.tls, p.d.members)
	var out []ensure.Child
	for _, m := range p.d.members {
		if m.Pod == nil && p.wantsPod(m) {
			out = append(out, ensure.Child{Object: p.builder(c).Pod(m, p.d.members, p.versionFor()), Once: true})
		}
	}
	return out
}
