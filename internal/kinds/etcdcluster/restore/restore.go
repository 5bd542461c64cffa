// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore decides how a cluster switches to a backup, or to the data of a recovery. A restore creates a second
// cluster with one member, the seed. Until the seed is ready, the first cluster is unchanged and keeps its clients. A
// single write of the status then makes the second cluster the current one, and opcrew deletes the first.
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

// Input holds everything on which the rules of this package base their decisions.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	View    etcd.View
	// Restore is the EtcdRestore with the cluster's name; nil if there is none.
	Restore *etcdv1beta2.EtcdRestore
	// Lineage is what is known about the old cluster and the restored one.
	Lineage *lineage.Input
	// Recovery is the input for decisions about a recovery.
	Recovery *recovery.Input
	// Unfit explains why a restore cannot start. Blocked explains why the restored member cannot be created. Each is
	// nil if nothing prevents it.
	Unfit, Blocked *model.Obstacle
	// HeldBy names the setting that blocks a restore, such as "spec.paused"; empty if none does.
	HeldBy string
	// SeedPatched is true if the cache does not show opcrew's last patch of the restored member's pod yet. SeedIsLive
	// is true if this member is ready, and a live read has confirmed that its pod exists.
	SeedPatched, SeedIsLive bool
}

// Begins reports whether an EtcdRestore starts now. Pods and claims of an earlier restore must be deleted first.
func (in *Input) Begins() bool {
	return in.asked() && in.HeldBy == "" && !in.Lineage.Leftovers()
}

// asked reports whether there is an EtcdRestore that affects the cluster. An EtcdRestore that cannot start yet affects
// only a cluster without data: this cluster waits, because it should start with the backup.
func (in *Input) asked() bool {
	return in.Waits() && (in.Unfit == nil || in.Cluster.Status.ClusterID == "")
}

// Waits reports whether there is an EtcdRestore that has not started yet. A completed EtcdRestore does not count, even
// if it was for an earlier cluster of the same name.
func (in *Input) Waits() bool {
	r := in.Restore
	if r == nil || r.DeletionTimestamp != nil || r.Status.Succeeded {
		return false
	}
	return !in.Cluster.Status.Restore.TookUp(r.UID)
}

// IsCalledOff reports whether the restore in progress was canceled.
func (in *Input) IsCalledOff() bool { return in.Origin() == nil }

// Seed returns the seed: the member that starts with the restored data.
func (in *Input) Seed() model.Member {
	at := in.Cluster.Status.Restore
	name := model.MemberName(in.Cluster, at.Serial)
	id := etcd.BootstrapID([]string{in.Cluster.PeerURL(name)}, model.Token(in.Cluster))
	return model.Member{
		Name: name, Serial: at.Serial, ID: id, Seed: true, Started: true, Client: in.Cluster.ClientURL(name),
		Pod: in.Lineage.Others.Pod(name), Claim: in.Lineage.Others.Claim(name), Patched: in.SeedPatched,
	}
}

// SeedServes reports whether the restored member (the seed) serves its data: it is the only member and the leader, and
// its pod is not about to be deleted.
func (in *Input) SeedServes() bool {
	m := in.Seed()
	if m.Pod == nil || m.Pod.DeletionTimestamp != nil || m.Patched || model.Ended(m.Pod) || model.RunsSince(m.Pod).IsZero() {
		return false
	}
	leader, known := in.View.Leader()
	_, isMember := in.View.Member(m.ID)
	return in.View.Err == nil && !in.View.Stale && isMember && len(in.View.Members) == 1 && known && leader == m.ID && in.View.Healthy(m.ID)
}

// RecreatesSeed reports whether opcrew must recreate the restored member's pod: the pod has ended, or it does not run
// and was created for another spec.
func (in *Input) RecreatesSeed() bool {
	pod := in.Seed().Pod
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	other := pod.Annotations[model.SettingsAnnotation] != build.SeedSettings+settings.Hash(in.Cluster) || model.VersionOf(pod) != versions.Desired(in.Cluster)
	return model.Ended(pod) || model.RunsSince(pod).IsZero() && other
}
