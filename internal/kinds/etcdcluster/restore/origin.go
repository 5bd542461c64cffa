// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Origin returns the source of the data for the restore or recovery in progress; nil if it was canceled.
func (in *Input) Origin() *build.Origin {
	if in.Cluster.Status.Restore.Recovery != nil {
		return in.recoveryOrigin()
	}
	r := in.Restore
	if r == nil || r.DeletionTimestamp != nil || string(r.UID) != in.Cluster.Status.Restore.UID {
		return nil
	}
	return &build.Origin{Name: "EtcdRestore " + in.Cluster.Name, Place: placeOf(r), Object: r.Spec.Object, Bump: r.Spec.RevisionBump, Requester: requester(r)}
}

// recoveryOrigin returns the source of the data for the recovery in progress; nil if it was canceled.
func (in *Input) recoveryOrigin() *build.Origin {
	plan, members := in.Cluster.Status.Restore.Recovery, in.Lineage.Members
	if in.asked() || recovery.IsDeclined(in.Cluster) || !stillLost(members) {
		return nil
	}
	if plan.Member == "" {
		return in.backupOrigin(plan)
	}
	if in.Recovery.Unreadable(plan.Member) != "" && !in.seedMade() {
		return nil // the member must run again before its data can be read
	}
	out := &build.Origin{Name: "The recovery from member " + plan.Member, TLSSecret: in.Cluster.OperatorSecret(), From: &backup.Source{
		Endpoint: in.Cluster.ClientURL(plan.Member), ClusterID: in.Cluster.Status.ClusterID, Index: uint64(plan.Index),
	}}
	if out.TLSSecret != "" {
		out.From.TLSDir = build.SourceTLS
	}
	return out
}

// stillLost reports, during a recovery, whether a majority of the members is still proven to be lost. It uses etcd's
// last member list, as the current view shows the restored member.
func stillLost(members []model.Member) bool {
	return recovery.Hopeless(members) && recovery.Unproven(members) == ""
}

func (in *Input) backupOrigin(plan *etcdv1beta2.QuorumRecovery) *build.Origin {
	if recovery.FoundUnusable(plan, build.RestoreResult(in.Seed().Pod)) {
		return nil // this cancels the recovery; the next plan uses another backup
	}
	for _, b := range in.Recovery.Backups {
		if b.Name == plan.Backup {
			place := backuppod.PlaceOf(b.Spec.StorageType, b.Spec.Storage)
			return &build.Origin{Name: "The recovery from EtcdBackup " + b.Name, Place: place, Object: plan.Object, Requester: requester(b)}
		}
	}
	return nil
}

// seedMade reports whether the data of the seed, the first member of the restored cluster, has been restored.
func (in *Input) seedMade() bool {
	result := build.RestoreResult(in.Seed().Pod)
	return result != nil && result.Outcome == backup.Succeeded
}

// requester returns the record of the user who created or last edited an object.
func requester(object client.Object) *string {
	return new(object.GetAnnotations()[common.RequesterAnnotation])
}

func placeOf(r *etcdv1beta2.EtcdRestore) backuppod.Place {
	return backuppod.PlaceOf(r.Spec.BackupStorageType, r.Spec.Storage)
}
