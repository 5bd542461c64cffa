// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"slices"
	"strings"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// fromBackup plans to recover from the verified backup that was saved last. It does not compare revisions, because
// backups of another cluster, or from before a restore, may have higher revisions.
func (in *Input) fromBackup(plan *Plan) {
	var best *etcdv1beta2.BackupRecord
	var passed []string
	for _, b := range in.Backups {
		v := b.Status.Verified
		if v == nil || v.Object == "" {
			continue
		}
		switch why := whyNot(in.Cluster, b); {
		case why != "":
			passed = append(passed, "object "+v.Object+" of "+b.Name+" "+why)
		case best == nil || best.SavedAt.Before(v.SavedAt):
			best, plan.Backup, plan.Object, plan.SavedAt = v, b.Name, v.Object, v.SavedAt
		}
	}
	if best != nil {
		return
	}
	plan.Waits = "a backup that was verified as restorable (spec.verify of an EtcdBackup)"
	if len(passed) > 0 {
		plan.Waits += "; these cannot be used: " + strings.Join(passed, ", ")
	}
	plan.Waits += "; alternatively, restore another backup with an EtcdRestore"
}

// whyNot explains why a verified backup cannot be used for the recovery; empty if it can.
func whyNot(c *etcdv1beta2.EtcdCluster, b *etcdv1beta2.EtcdBackup) string {
	v := b.Status.Verified
	switch {
	case slices.Contains(Unusable(c.Status.Restore), b.Name+"/"+v.Object):
		return "was found to be missing or corrupt"
	case v.ClusterID == "" || v.SavedAt == nil:
		return "does not record its cluster and its time"
	case v.ClusterID != c.Status.ClusterID && !slices.Contains(c.Status.FormerClusterIDs, v.ClusterID):
		return "belongs to another cluster, " + v.ClusterID
	}
	return ""
}

// FoundUnusable reports whether a recovery found that its backup is missing or corrupt, so that a retry is useless.
// result is what the restore container reported; nil if nothing.
func FoundUnusable(plan *etcdv1beta2.QuorumRecovery, result *backup.Result) bool {
	return plan != nil && plan.Member == "" && result != nil && result.Outcome != backup.Succeeded &&
		slices.Contains([]backup.Reason{backup.ReasonObjectMissing, backup.ReasonCorrupt, backup.ReasonNotRestorable}, result.Reason)
}

// Unusable returns the backups that a canceled recovery found unusable. No later plan may use them.
func Unusable(last *etcdv1beta2.RestoreProgress) []string {
	if last == nil || last.Recovery == nil || last.Phase != etcdv1beta2.PhaseAbandoned {
		return nil
	}
	return last.Recovery.Unusable
}

// Former returns the UID of the EtcdRestore that the cluster carried out last. The EtcdRestore's own status may not
// show yet that it was carried out, and it must not be carried out again.
func Former(last *etcdv1beta2.RestoreProgress) string {
	switch {
	case last == nil || last.Recovery == nil && last.Phase != etcdv1beta2.PhaseRestored:
		return ""
	case last.Recovery != nil:
		return last.Recovery.Former
	}
	return last.UID
}
