// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// fromBackup takes the newest, by when it was saved, of those that were seen to be restorable. Revisions tell nothing:
// those of another cluster, or from before a restore, may be higher.
func (f facts) fromBackup(c *etcdv1beta2.EtcdCluster, out *recovery) {
	var best *etcdv1beta2.BackupRecord
	var passed []string
	for _, b := range f.backups {
		v := b.Status.Verified
		if v == nil || v.Object == "" {
			continue
		}
		switch why := whyNotFrom(c, b); {
		case why != "":
			passed = append(passed, "object "+v.Object+" of "+b.Name+" "+why)
		case best == nil || best.SavedAt.Before(v.SavedAt):
			best, out.Backup, out.Object, out.SavedAt = v, b.Name, v.Object, v.SavedAt
		}
	}
	if best == nil {
		out.waits = "a backup: no EtcdBackup of the cluster has one that was seen to be restorable (spec.verify)" + listed(passed) + "; restore another one with an EtcdRestore"
	}
}

// whyNotFrom says why a backup that was proven is not one to go on from; empty: it is.
func whyNotFrom(c *etcdv1beta2.EtcdCluster, b *etcdv1beta2.EtcdBackup) string {
	v := b.Status.Verified
	switch {
	case slices.Contains(unusable(c.Status.Restore), b.Name+"/"+v.Object):
		return "was found to be gone or broken"
	case v.ClusterID == "" || v.SavedAt == nil:
		return "does not tell of which cluster it is, and of when"
	case v.ClusterID != c.Status.ClusterID && !slices.Contains(c.Status.FormerClusterIDs, v.ClusterID):
		return "is of another cluster, " + v.ClusterID
	}
	return ""
}

// listed is what there is to be said of backups that are not taken.
func listed(passed []string) string {
	if len(passed) == 0 {
		return ""
	}
	return " and can be taken: " + strings.Join(passed, ", ")
}

// isUnusable reports whether the seed of a recovery has found its backup to be gone or broken. It would find so for
// ever.
func (f facts) isUnusable(c *etcdv1beta2.EtcdCluster) bool {
	result := restoreResult(f.seed(c).pod)
	return c.Status.Restore.Recovery.Member == "" && result != nil && result.Outcome != backup.Succeeded &&
		slices.Contains([]backup.Reason{backup.ReasonObjectMissing, backup.ReasonCorrupt, backup.ReasonNotRestorable}, result.Reason)
}

// noteUnusable has the plans after a recovery that is called off not take the same backup.
func (f facts) noteUnusable(c *etcdv1beta2.EtcdCluster) {
	if plan := c.Status.Restore.Recovery; plan != nil && f.isUnusable(c) {
		plan.Unusable = append(plan.Unusable, plan.Backup+"/"+plan.Object)
	}
}

// unusable are the backups that no plan takes after a recovery that was called off.
func unusable(last *etcdv1beta2.RestoreProgress) []string {
	if last == nil || last.Recovery == nil || last.Phase != etcdv1beta2.PhaseAbandoned {
		return nil
	}
	return last.Recovery.Unusable
}

// mostFormer is how many ids of a cluster are remembered.
const mostFormer = 10

// noteFormer remembers the id that a cluster had before it went over to another, whose backups are still its own.
func noteFormer(s *etcdv1beta2.EtcdClusterStatus) {
	if s.ClusterID == "" {
		return // it began with the backup
	}
	former := append([]string{s.ClusterID}, s.FormerClusterIDs...)
	s.FormerClusterIDs = former[:min(len(former), mostFormer)]
}
