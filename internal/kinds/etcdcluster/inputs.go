// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/corruption"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/membership"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/rollout"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/snapshot"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/upkeep"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// Each package of rules has its own Input. The functions below fill it from what was read about the cluster.

func (f facts) membershipInput(c *etcdv1beta2.EtcdCluster, d *decision) *membership.Input {
	name := model.MemberName(c, f.formation(c).NextSerial(d.members))
	return &membership.Input{
		Now: f.now, View: f.view, Members: d.members, Size: c.Spec.Size, Paused: f.paused,
		KeepSize: keepsSize(d.invalid),
		Surge:    d.target == "" || snapshot.Due(f.snapshotInput(c, d)),
		Add:      steps.Add(name, c.PeerURL(name), versions.HasLearners(rollout.Lowest(d.members))),
	}
}

func (f facts) rolloutInput(c *etcdv1beta2.EtcdCluster, d *decision) *rollout.Input {
	in := &rollout.Input{
		View: f.view, Members: d.members, Target: d.target, Invalid: d.invalid != nil,
		Persistent: model.Persistent(c), CurrentVersion: c.Status.CurrentVersion,
	}
	log := f.snapshotInput(c, d)
	if in.SnapshotDue = snapshot.Due(log); in.SnapshotDue {
		in.AdvanceLog = snapshot.AdvanceLog(log)
	}
	return in
}

func (f facts) snapshotInput(c *etcdv1beta2.EtcdCluster, d *decision) *snapshot.Input {
	return &snapshot.Input{
		View: f.view, Members: d.members, FormedWith: c.Status.FormedWith, From: c.Status.SnapshotFrom,
		Env: settings.PodPolicy(c).EtcdEnv, Target: d.target, Lowest: rollout.Lowest(d.members), Refused: f.refused.Words,
	}
}

func (f facts) upkeepInput(c *etcdv1beta2.EtcdCluster, members []model.Member) *upkeep.Input {
	return &upkeep.Input{
		Now: f.now, View: f.view, Members: members, History: f.history,
		Spec: settings.Upkeep(c), Env: settings.PodPolicy(c).EtcdEnv, Claims: f.volumes.Bound(),
	}
}

func (f facts) corruptionInput(members []model.Member) *corruption.Input {
	return &corruption.Input{Now: f.now, View: f.view, Members: members, Compared: f.history.Compared}
}

// refusesWrites returns the reason why etcd refuses writes although its members answer, such as the alarm NOSPACE. It
// returns nil if etcd accepts writes.
func (f facts) refusesWrites(c *etcdv1beta2.EtcdCluster, members []model.Member) *model.Obstacle {
	if f.view.Err != nil {
		return nil
	}
	if message := corruption.Message(f.corruptionInput(members)); message != "" {
		return model.NewObstacle(etcdv1beta2.ReasonCorrupt, message)
	}
	if message := upkeep.OutOfSpace(f.upkeepInput(c, members)); message != "" {
		return model.NewObstacle(etcdv1beta2.ReasonNoSpace, message)
	}
	return nil
}

func (f facts) recoveryInput(c *etcdv1beta2.EtcdCluster, members []model.Member) *recovery.Input {
	return &recovery.Input{Cluster: c, Now: f.now, View: f.view, Members: members, Backups: f.backups, HeldBy: f.recoveryHeldBy(c), Paused: f.paused}
}

// recoveryHeldBy names what blocks the start of a recovery, such as "spec.paused"; empty if nothing does.
func (f facts) recoveryHeldBy(c *etcdv1beta2.EtcdCluster) string {
	if by := f.holder(c); by != "" || !f.lineage(c, nil).Leftovers() {
		return by
	}
	return "the leftovers of an earlier restore (" + f.others.Names() + ")"
}
