// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdrestore

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// progress holds what opcrew reads to compute the reason and the message of the condition Ready of an EtcdRestore.
type progress struct {
	cluster    *etcdv1beta2.EtcdCluster
	unfit, why string
}

// of returns the reason and the message of the condition Ready. It reports success only once the cluster serves
// clients.
func (f progress) of(restore *etcdv1beta2.EtcdRestore) (reason, message string) {
	name := restore.Spec.EtcdCluster.Name
	switch at := recorded(restore, f.cluster); {
	case f.cluster == nil:
		return etcdv1beta2.ReasonClusterMissing, fmt.Sprintf("EtcdCluster %s does not exist; when it is created, it starts with this backup", name)
	case at == nil && f.cluster.Status.Restore.TookUp(restore.UID):
		return etcdv1beta2.ReasonRestored, fmt.Sprintf("EtcdCluster %s was restored, but has lost its quorum since then; the status of the EtcdCluster describes the recovery from that loss", name)
	case (at == nil || at.Phase == etcdv1beta2.PhaseRestoring) && held(f.cluster) != "":
		return etcdv1beta2.ReasonClusterNotReady, fmt.Sprintf("EtcdCluster %s %s", name, held(f.cluster))
	case at == nil && f.unfit != "":
		return f.unfit, fmt.Sprintf("%s; EtcdCluster %s has not started the restore", f.why, name)
	case at == nil:
		return etcdv1beta2.ReasonWaiting, fmt.Sprintf("EtcdCluster %s has not started the restore yet%s", name, behind(f.cluster))
	case at.Phase == etcdv1beta2.PhaseRestored && serves(f.cluster):
		return etcdv1beta2.ReasonRestored, fmt.Sprintf("EtcdCluster %s serves the data restored from %s, %s; its revisions continue from %d", name, at.Object, saved(at), at.Revision) + but(at)
	case at.Phase == etcdv1beta2.PhaseRestored:
		return etcdv1beta2.ReasonRestoring, fmt.Sprintf("EtcdCluster %s has switched to the restored member, but does not serve clients yet", name)
	default:
		return cmp.Or(at.Reason, etcdv1beta2.ReasonRestoring), at.Message + "; the cluster is unchanged until the restored member serves clients"
	}
}

// saved says when the restored backup was saved. Later data is not restored.
func saved(at *etcdv1beta2.RestoreProgress) string {
	if at.SavedAt == nil {
		return "saved at an unknown time"
	}
	return "saved at " + at.SavedAt.UTC().Format(time.RFC3339)
}

// behind returns a clause that explains why the cluster has not started a restore yet; empty if the reason is unknown.
func behind(c *etcdv1beta2.EtcdCluster) string {
	switch at := c.Status.Restore; {
	case at == nil:
		return ""
	case at.Phase == etcdv1beta2.PhaseRestoring && at.Recovery != nil:
		return ": its recovery from a lost quorum is canceled first"
	case at.Phase == etcdv1beta2.PhaseRestoring:
		return ": an earlier restore, which was deleted, is canceled first"
	}
	return ": the leftovers of an earlier restore must be deleted first"
}

// held returns a clause that says which setting of the cluster blocks the restore, and when the restore continues. It
// returns "" if no setting blocks the restore.
func held(c *etcdv1beta2.EtcdCluster) string {
	switch {
	case c.Spec.Hibernate:
		return "hibernates; the restore waits until spec.hibernate is false"
	case c.Spec.Paused || common.IsSet(c.Annotations, common.PausedAnnotation):
		return "is paused; the restore waits until it is no longer paused"
	}
	return ""
}

// but returns a clause about a problem of a restore that succeeded, for example that a verification has found the
// backup corrupt; empty if there is none.
func but(at *etcdv1beta2.RestoreProgress) string {
	if at.Message == "" {
		return ""
	}
	return "; " + at.Message
}

// recorded returns what the cluster's status records about this restore; nil if it records nothing about it.
func recorded(restore *etcdv1beta2.EtcdRestore, cluster *etcdv1beta2.EtcdCluster) *etcdv1beta2.RestoreProgress {
	if cluster == nil || cluster.Status.Restore == nil || cluster.Status.Restore.UID != string(restore.UID) {
		return nil
	}
	return cluster.Status.Restore
}

// serves reports whether the cluster serves clients.
func serves(c *etcdv1beta2.EtcdCluster) bool {
	return meta.IsStatusConditionTrue(c.Status.Conditions, etcdv1beta2.EtcdClusterAvailable)
}
