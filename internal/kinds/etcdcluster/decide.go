// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"strings"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/corruption"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/membership"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/rollout"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/upkeep"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// Decide computes what opcrew does next for the cluster. It has no side effects, and is called once per reconcile.
func (r *reconciler) Decide(c *etcdv1beta2.EtcdCluster, f facts, _ time.Time) decision {
	switch {
	case c.DeletionTimestamp != nil:
		return decision{stage: deleted}
	case f.behind:
		return decision{stage: behind}
	case f.formation(c).Orphan() == "":
		return f.decideStage(c)
	}
	known := c.DeepCopy()
	if !f.formation(known).Recollect() {
		return decision{stage: statusLost}
	}
	d := f.decideStage(known)
	d.recollected = true
	return d
}

func (f facts) decideStage(c *etcdv1beta2.EtcdCluster) decision {
	if model.Restoring(c) {
		return decision{stage: restoring, members: f.members(c)}
	}
	members := f.members(c)
	in := f.recoveryInput(c, members)
	plan := recovery.Find(in)
	if f.restore != nil && f.restoreInput(c).Begins() || in.IsDue(plan, !f.view.Stale && f.now.Sub(f.view.At) <= maxAge) {
		return decision{stage: beginning, members: members, recovery: plan}
	}
	d := f.decide(c)
	d.stage, d.recovery = running, plan
	return d
}

// decide computes the next change of a cluster that is not being restored.
func (f facts) decide(c *etcdv1beta2.EtcdCluster) decision {
	d := decision{members: f.members(c), drop: map[string]bool{}, dropClaim: map[string]bool{}}
	d.invalid, d.target = checkSpec(c, f.unsafe, f.tls, d.members)
	switch {
	case c.Status.ClusterID == "":
		f.begin(c, &d)
	case !model.Hibernating(c):
		f.change(c, &d)
	}
	return d
}

// change decides about a cluster that its first members have formed. Changes that need no view of the members come
// first. Then the rules follow in order; the first rule that returns a verdict decides, so that at most one change is
// made at a time.
func (f facts) change(c *etcdv1beta2.EtcdCluster, d *decision) {
	d.recreateEnded()
	roll := f.rolloutInput(c, d)
	d.next.Resize = rollout.ResizeBroken(roll)
	if d.follow(rollout.Repair(roll)) {
		return
	}
	switch {
	case f.view.Err != nil || f.view.At.IsZero():
		d.next.Waits = "a response of the cluster"
		return
	case f.view.Stale || f.now.Sub(f.view.At) > maxAge:
		d.next.Waits = "the next read of the members"
		return
	}
	f.establish(c, d)
	members, data, corrupt := f.membershipInput(c, d), f.upkeepInput(c, d.members), f.corruptionInput(d.members)
	for _, rules := range []func() steps.Verdict{
		func() steps.Verdict { return upkeep.AwaitWork(data) },
		func() steps.Verdict { return membership.Repair(members) },
		func() steps.Verdict { return corruption.Repair(corrupt) },
		func() steps.Verdict { return upkeep.MakeRoom(data) },
		func() steps.Verdict { return membership.AwaitHealthy(members) },
		func() steps.Verdict { return membership.Grow(members) },
		func() steps.Verdict { return membership.AwaitReady(members) },
		func() steps.Verdict { return membership.Shrink(members) },
		func() steps.Verdict { return rollout.Update(roll) },
		func() steps.Verdict { return upkeep.Defragment(data) },
		func() steps.Verdict { return rollout.Resize(roll) },
	} {
		if d.follow(rules()) {
			return
		}
	}
}

// begin decides about a new cluster whose first members have not had a quorum yet. No client has written to it, so
// opcrew may recreate pods whenever the spec changes.
func (f facts) begin(c *etcdv1beta2.EtcdCluster, d *decision) {
	over := f.formation(c).StartsOver()
	for i, m := range d.members {
		if m.ClaimDiffers != "" && volumes.Unprovisioned(m.Claim) {
			d.drop[m.Name], d.dropClaim[m.Name] = true, true
			continue
		}
		if m.Pod == nil || m.Pod.DeletionTimestamp != nil || m.Patched {
			continue
		}
		switch {
		case over, model.Ended(m.Pod), m.Differs, model.HasLostVolume(m.Pod) && !f.view.HasQuorum():
			d.drop[m.Name] = true
		case model.VersionOf(m.Pod) != versions.Desired(c) && d.next.Change == nil && d.invalid == nil:
			d.next.Change, d.next.Version = &d.members[i], versions.Desired(c)
		}
	}
}

// establish selects the pods that lose their permission to start etcd on an empty volume: pods of first members once
// the cluster is formed, and pods of later members once they have run. It also selects the voters that clients may
// reach from now on.
func (f facts) establish(c *etcdv1beta2.EtcdCluster, d *decision) {
	for _, m := range d.members {
		begins := m.Started || strings.HasPrefix(m.Start(), string(etcdstart.Bootstrap)+" ")
		if m.Pod == nil || m.Pod.DeletionTimestamp != nil || m.Patched || !begins {
			continue
		}
		switch {
		case !m.IsEstablished():
			d.establish = append(d.establish, m)
		case !m.Shown() && f.lineage(c, d.members).MayShow(m):
			d.show = append(d.show, m)
		}
	}
}
