// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"cmp"
	"fmt"
	"time"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Report says how far the cluster is. What succeeded has, whatever becomes of the cluster.
func (r *reconciler) Report(restore *etcdv1beta2.EtcdRestore, f facts, _ kit.Outcome, now time.Time) {
	if restore.Status.Succeeded {
		return
	}
	set := condition.Set{Conditions: &restore.Status.Conditions, Generation: restore.Generation, Now: now}
	reason, message := howFar(restore, f)
	if reason != etcdv1beta2.ReasonRestored {
		restore.Status.Reason = message
		set.False(etcdv1beta2.EtcdRestoreReady, reason, message)
		return
	}
	restore.Status.Succeeded, restore.Status.Reason = true, ""
	if at := progress(restore, f); at != nil {
		restore.Status.Object, restore.Status.Revision = at.Object, at.Revision
	}
	set.True(etcdv1beta2.EtcdRestoreReady, reason, message)
}

// howFar is the reason and the words for it; success is told only when clients are served.
func howFar(restore *etcdv1beta2.EtcdRestore, f facts) (reason, message string) {
	name := restore.Spec.EtcdCluster.Name
	switch at := progress(restore, f); {
	case f.cluster == nil:
		return etcdv1beta2.ReasonClusterMissing, fmt.Sprintf("There is no EtcdCluster %s; when it is made it begins with this backup", name)
	case at == nil && f.cluster.Status.Restore.TookUp(restore.UID):
		return etcdv1beta2.ReasonRestored, fmt.Sprintf("EtcdCluster %s was restored, and has lost its quorum since; it went on from what was left", name)
	case (at == nil || at.Phase == etcdv1beta2.PhaseRestoring) && held(f.cluster) != "":
		return etcdv1beta2.ReasonClusterNotReady, fmt.Sprintf("EtcdCluster %s %s", name, held(f.cluster))
	case at == nil && f.unfit != "":
		return f.unfit, fmt.Sprintf("%s; EtcdCluster %s has not taken it up", f.why, name)
	case at == nil:
		return etcdv1beta2.ReasonWaiting, fmt.Sprintf("EtcdCluster %s has not taken it up yet%s", name, behind(f.cluster))
	case at.Phase == etcdv1beta2.PhaseRestored && serves(f.cluster):
		return etcdv1beta2.ReasonRestored, fmt.Sprintf("EtcdCluster %s serves %s, %s, from revision %d on", name, at.Object, saved(at), at.Revision) + but(at)
	case at.Phase == etcdv1beta2.PhaseRestored:
		return etcdv1beta2.ReasonRestoring, fmt.Sprintf("EtcdCluster %s has gone over to the restored member, and does not serve clients yet", name)
	default:
		return cmp.Or(at.Reason, etcdv1beta2.ReasonRestoring), at.Message + "; until it serves the cluster stays what it is"
	}
}

// saved says when the backup was saved: that is from when on what was written is gone.
func saved(at *etcdv1beta2.RestoreProgress) string {
	if at.SavedAt == nil {
		return "of which no record tells when it was saved"
	}
	return "saved at " + at.SavedAt.UTC().Format(time.RFC3339)
}

// behind says what a restore that was not taken up waits for.
func behind(c *etcdv1beta2.EtcdCluster) string {
	switch at := c.Status.Restore; {
	case at == nil:
		return ""
	case at.Phase == etcdv1beta2.PhaseRestoring && at.Recovery != nil:
		return ": its recovery from a lost quorum is called off first"
	case at.Phase == etcdv1beta2.PhaseRestoring:
		return ": an earlier restore, which was deleted, is called off first"
	}
	return ": what is left of an earlier restore has to go first"
}

// held says what the user of a cluster wants that keeps it from being restored, and until when; empty: nothing.
func held(c *etcdv1beta2.EtcdCluster) string {
	switch {
	case c.Spec.Hibernate:
		return "hibernates; nothing is restored until it is woken"
	case c.Spec.Paused || common.IsSet(c.Annotations, common.PausedAnnotation):
		return "is paused; nothing is restored until it is not"
	}
	return ""
}

// but is what there is to be said beside a success, such as that a proof has found the object corrupt.
func but(at *etcdv1beta2.RestoreProgress) string {
	if at.Message == "" {
		return ""
	}
	return "; " + at.Message
}

// progress is what the cluster says of this very restore, nil for nothing.
func progress(restore *etcdv1beta2.EtcdRestore, f facts) *etcdv1beta2.RestoreProgress {
	if f.cluster == nil || f.cluster.Status.Restore == nil || f.cluster.Status.Restore.UID != string(restore.UID) {
		return nil
	}
	return f.cluster.Status.Restore
}
