// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Report writes the status. A restore that has succeeded stays succeeded, whatever happens to the cluster later.
func (r *reconciler) Report(restore *etcdv1beta2.EtcdRestore, f facts, d decision, done kit.Outcome) {
	if restore.Status.Succeeded {
		return
	}
	set := condition.Set{Conditions: &restore.Status.Conditions, Generation: restore.Generation, Now: done.Now}
	set.Remark(common.ConditionUnencrypted, common.ReasonPlainHTTP, restore.Spec.Unencrypted(restore.Spec.BackupStorageType))
	if d.reason != etcdv1beta2.ReasonRestored {
		restore.Status.Reason = d.message
		set.False(etcdv1beta2.EtcdRestoreReady, d.reason, d.message)
		return
	}
	restore.Status.Succeeded, restore.Status.Reason = true, ""
	if at := recorded(restore, f.cluster); at != nil {
		restore.Status.Object, restore.Status.Revision = at.Object, at.Revision
	}
	set.True(etcdv1beta2.EtcdRestoreReady, d.reason, d.message)
}
