// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// A member that is out of space is not taken at its word: etcd counts what is in use again when it commits a
// write, and while writes are refused it may go on telling what was so before a compaction. What it has free
// shows when it is defragmented.

// promises reports whether a member says that a defragmentation would give enough back.
func (f facts) promises(c *etcdv1beta2.EtcdCluster, status etcd.MemberStatus) bool {
	return f.takes(c, status.DBSize, crowded) && f.gains(status)
}

// isOwed reports whether a member is to be defragmented before it is said that nothing more can be given back: it
// has not been since history was thrown away.
func (f facts) isOwed(c *etcdv1beta2.EtcdCluster, status etcd.MemberStatus) bool {
	last, compaction := f.tended.defragmented[status.ID], f.tended.compaction
	switch {
	case !f.takes(c, status.DBSize, crowded) || compaction.failed != "":
		return false
	case last.at.IsZero() || last.failed != "":
		return true
	}
	return last.at.Before(compaction.at)
}

// isDue reports whether that may be now. Clients that delete keys have history thrown away again and again; with
// them, members are not blocked all the while.
func (f facts) isDue(c *etcdv1beta2.EtcdCluster, status etcd.MemberStatus) bool {
	last := f.tended.defragmented[status.ID]
	rest := restFactor * last.took
	if last.failed != "" {
		rest = pauseAfterFailure
	}
	return f.isOwed(c, status) && f.now.Sub(last.at) >= rest
}

// failedDefragmentation names a member that could not be defragmented for that, and why; empty: none.
func (f facts) failedDefragmentation(c *etcdv1beta2.EtcdCluster) string {
	for _, m := range f.view.Voters() {
		if last := f.tended.defragmented[m.ID]; last.failed != "" && f.isOwed(c, f.view.Status[m.ID]) {
			return "the " + defragmentationOf(f.nameOf(m.ID)) + " has failed: " + last.failed
		}
	}
	return ""
}
