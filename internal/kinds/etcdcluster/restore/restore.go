// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore decides how a cluster switches to a backup, or to the data of a recovery, and reports on it. A
// restore creates a second cluster of one member, the seed. Until the seed is ready the first cluster is unchanged and
// keeps its clients. Then a single write of the status makes the seed the cluster, and the first is deleted.
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

// Input holds what the rules decide on.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	View    etcd.View
	// Restore is the EtcdRestore with the cluster's name; nil if there is none.
	Restore *etcdv1beta2.EtcdRestore
	// Lineage is what is known about the cluster and the other lineages, including the seed.
	Lineage *lineage.Input
	// Recovery is the input for decisions about a recovery.
	Recovery *recovery.Input
	// Unfit is what keeps a restore from beginning; Blocked is what keeps the seed from being created. nil if nothing
	// does.
	Unfit, Blocked *model.Obstacle
	// HeldBy names what keeps a restore from starting, and the cluster from switching to it; empty if nothing does.
	HeldBy string
	// SeedPatched is true if the last patch of the seed's pod is not in the cache yet. SeedIsLive is true if the seed
	// is ready, and a live read has found its pod.
	SeedPatched, SeedIsLive bool
}

// Begins reports whether an EtcdRestore begins now. What is left of the last restore has to go first.
func (in *Input) Begins() bool {
	return in.asked() && in.HeldBy == "" && !in.Lineage.Leftovers()
}

// asked reports whether there is an EtcdRestore that can begin. A cluster that was never formed waits even for one that
// cannot begin yet, as it should begin with the backup.
func (in *Input) asked() bool {
	return in.Waits() && (in.Unfit == nil || in.Cluster.Status.ClusterID == "")
}

// Waits reports whether there is an EtcdRestore that has not begun yet. A completed EtcdRestore does not count, even if
// it was for an earlier cluster of the same name.
func (in *Input) Waits() bool {
	r := in.Restore
	if r == nil || r.DeletionTimestamp != nil || r.Status.Succeeded {
		return false
	}
	return !in.Cluster.Status.Restore.TookUp(r.UID)
}

// IsCalledOff reports whether the restore that has begun was canceled.
func (in *Input) IsCalledOff() bool { return in.Origin() == nil }

// Seed returns the member that begins with the backup.
func (in *Input) Seed() model.Member {
	at := in.Cluster.Status.Restore
	name := model.MemberName(in.Cluster, at.Serial)
	id := etcd.BootstrapID([]string{in.Cluster.PeerURL(name)}, model.Token(in.Cluster))
	return model.Member{
		Name: name, Serial: at.Serial, ID: id, Seed: true, Started: true, Client: in.Cluster.ClientURL(name),
		Pod: in.Lineage.Others.Pod(name), Claim: in.Lineage.Others.Claim(name), Patched: in.SeedPatched,
	}
}

// SeedServes reports whether the seed serves the restored data: it is its own leader, and its pod exists and stays.
func (in *Input) SeedServes() bool {
	m := in.Seed()
	if m.Pod == nil || m.Pod.DeletionTimestamp != nil || m.Patched || model.Ended(m.Pod) || model.RunsSince(m.Pod).IsZero() {
		return false
	}
	leader, known := in.View.Leader()
	_, isMember := in.View.Member(m.ID)
	return in.View.Err == nil && !in.View.Stale && isMember && len(in.View.Members) == 1 && known && leader == m.ID && in.View.Healthy(m.ID)
}

// RecreatesSeed reports whether to recreate the seed's pod: it has ended, or it does not run and was made for another
// spec.
func (in *Input) RecreatesSeed() bool {
	pod := in.Seed().Pod
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	other := pod.Annotations[model.SettingsAnnotation] != build.SeedSettings+settings.Hash(in.Cluster) || model.VersionOf(pod) != versions.Desired(in.Cluster)
	return model.Ended(pod) || model.RunsSince(pod).IsZero() && other
}
