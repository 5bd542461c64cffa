// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// mostFormer is how many former cluster IDs the status keeps.
const mostFormer = 10

// cutOver switches the cluster to the restored member. The single write of this status ends the old cluster.
func (in *Input) cutOver(seed model.Member) {
	s, at := &in.Cluster.Status, in.Cluster.Status.Restore
	at.Phase, at.Reason, at.Message = etcdv1beta2.PhaseRestored, "", ""
	if result := build.RestoreResult(seed.Pod); result != nil {
		// If the restore succeeded, the message of its result is a warning.
		at.Object, at.Revision, at.Message = result.Object, result.RestoredRevision, result.Message
		at.SavedAt = savedAt(*result)
	}
	at.FormerVoters = model.CountVoters(s.Membership)
	noteRecovered(s)
	noteFormer(s)
	s.QuorumLoss, s.Decided = nil, nil
	s.ClusterID, s.Lineage = model.FormatID(in.View.ClusterID), at.UID
	s.Membership = []etcdv1beta2.MemberIdentity{{ID: fmt.Sprintf("%016x", seed.ID), Name: seed.Name}}
	s.Size, s.CurrentVersion, s.TargetVersion = 1, in.View.Status[seed.ID].Version, ""
	// Every etcd version can read what etcdutl restores, and the current version writes all later log entries.
	s.FormedWith, s.SnapshotFrom = s.CurrentVersion, 0
}

// savedAt returns when the restored backup was saved; nil if that is unknown.
func savedAt(result backup.Result) *metav1.Time {
	if result.SavedAt.IsZero() {
		return nil
	}
	return &metav1.Time{Time: result.SavedAt.Truncate(time.Second)}
}

// noteFormer records in the status the ID that the cluster had before a restore. Backups with that ID still count as
// backups of this cluster.
func noteFormer(s *etcdv1beta2.EtcdClusterStatus) {
	if s.ClusterID == "" {
		return // the cluster never had data before the restore
	}
	former := append([]string{s.ClusterID}, s.FormerClusterIDs...)
	s.FormerClusterIDs = former[:min(len(former), mostFormer)]
}

// noteRecovered records in the status what a recovery may have lost.
func noteRecovered(s *etcdv1beta2.EtcdClusterStatus) {
	at := s.Restore
	if at.Recovery == nil {
		return
	}
	at.Recovery.MayBeLost = recovery.MayBeLost(s.QuorumLoss, *at.Recovery)
	at.Reason = etcdv1beta2.ReasonRecovered
	at.Message = fmt.Sprintf("The quorum was permanently lost; the cluster now has the data of %s, and its revisions continue from %d. Data loss: %s",
		cmp.Or(at.Recovery.Member, at.Recovery.Object), at.Revision, at.Recovery.MayBeLost)
}
