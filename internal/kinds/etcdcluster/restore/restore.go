// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore decides how a cluster switches to a backup, or to the data that a recovery uses, and reports it.
//
// A restore makes a second cluster beside the first, of one member, the seed. Until the seed serves, nothing of the first is
// changed and clients stay with it. Then, with one write of the status, the seed is the cluster, and what is left of the
// first goes. Whether a quorum is lost for good is decided in recovery.
package restore

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/lineage"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input is what the rules decide on.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	View    etcd.View
	// Restore is the EtcdRestore of the cluster's name; nil: there is none.
	Restore *etcdv1beta2.EtcdRestore
	// Lineage is what is known about the cluster and the other lineages, with the seed among them.
	Lineage *lineage.Input
	// Recovery is what a recovery is decided on.
	Recovery *recovery.Input
	// Unfit keeps a restore from beginning, and Blocked the seed from being made; nil: nothing.
	Unfit, Blocked *model.Obstacle
	// HeldBy names what keeps a restore from starting, and the cluster from switching to it; empty: nothing.
	HeldBy string
	// SeedPatched: the cache does not show the last patch of the seed's pod yet. SeedIsLive: the seed serves, and the API
	// server itself has its pod.
	SeedPatched, SeedIsLive bool
}

// Begins reports whether there is an EtcdRestore to begin with. What is left of the last one has to go first.
func (in *Input) Begins() bool {
	return in.asked() && in.HeldBy == "" && !in.Lineage.Leftovers()
}

// asked reports whether there is an EtcdRestore that can begin. A cluster that was never formed waits for it, as it is to
// begin with the backup.
func (in *Input) asked() bool {
	return in.Waits() && (in.Unfit == nil || in.Cluster.Status.ClusterID == "")
}

// Waits reports whether there is an EtcdRestore that was not begun yet. One that is done does not count, even if it was for
// an earlier cluster of the name.
func (in *Input) Waits() bool {
	r := in.Restore
	if r == nil || r.DeletionTimestamp != nil || r.Status.Succeeded {
		return false
	}
	return !in.Cluster.Status.Restore.TookUp(r.UID)
}

// IsCalledOff reports whether the restore that was begun is not to continue.
func (in *Input) IsCalledOff() bool { return in.Origin() == nil }

// Seed is the member that begins with the backup.
func (in *Input) Seed() model.Member {
	at := in.Cluster.Status.Restore
	name := model.MemberName(in.Cluster, at.Serial)
	id := etcd.BootstrapID([]string{in.Cluster.PeerURL(name)}, model.Token(in.Cluster))
	return model.Member{
		Name: name, Serial: at.Serial, ID: id, Seed: true, Started: true, Client: in.Cluster.ClientURL(name),
		Pod: in.Lineage.Others.Pod(name), Claim: in.Lineage.Others.Claim(name), Patched: in.SeedPatched,
	}
}

// SeedServes reports whether the seed serves what was restored: it leads itself, and its pod is there and stays.
func (in *Input) SeedServes() bool {
	m := in.Seed()
	if m.Pod == nil || m.Pod.DeletionTimestamp != nil || m.Patched || model.Ended(m.Pod) || model.RunsSince(m.Pod).IsZero() {
		return false
	}
	leader, known := in.View.Leader()
	_, isMember := in.View.Member(m.ID)
	return in.View.Err == nil && !in.View.Stale && isMember && len(in.View.Members) == 1 && known && leader == m.ID && in.View.Healthy(m.ID)
}

// RecreatesSeed reports whether the seed's pod has ended, or does not run and was made for another spec.
func (in *Input) RecreatesSeed() bool {
	pod := in.Seed().Pod
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	other := pod.Annotations[model.SettingsAnnotation] != build.SeedSettings+settings.Hash(in.Cluster) || model.VersionOf(pod) != versions.Desired(in.Cluster)
	return model.Ended(pod) || model.RunsSince(pod).IsZero() && other
}
