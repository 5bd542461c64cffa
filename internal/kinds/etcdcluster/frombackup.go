// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backup"
)

// fromBackup takes the newest that was seen to be restorable.
func (f facts) fromBackup(c *etcdv1beta2.EtcdCluster, out *recovery) {
	var best *etcdv1beta2.BackupRecord
	var passed []string
	for _, b := range f.backups {
		switch v := b.Status.Verified; {
		case v == nil || v.Object == "":
		case slices.Contains(unusable(c.Status.Restore), b.Name+"/"+v.Object):
			passed = append(passed, "object "+v.Object+" of "+b.Name+" was found to be gone or broken")
		case best == nil || v.Revision > best.Revision:
			best, out.Backup, out.Object = v, b.Name, v.Object
		}
	}
	if best == nil {
		out.waits = "a backup: no EtcdBackup of the cluster has one that was seen to be restorable (spec.verify)" + listed(passed) + "; restore another one with an EtcdRestore"
	}
}

// listed is what there is to be said of backups that are not taken.
func listed(passed []string) string {
	if len(passed) == 0 {
		return ""
	}
	return " and can be taken: " + strings.Join(passed, ", ")
}

// isUnusable tells whether the seed of a recovery has found its backup to be gone or broken. It would find so for
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
