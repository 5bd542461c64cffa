// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Obstacle explains, as the reason and message of a condition, why something cannot be done.
type Obstacle struct{ Reason, Message string }

// NewObstacle returns an Obstacle with a condition reason and a message.
func NewObstacle(reason, message string) *Obstacle { return &Obstacle{reason, message} }

// Decides reports whether the view shows that the cluster has a quorum. It returns false during a restore, because the
// view then shows the restored member and not the members of the cluster.
func Decides(c *etcdv1beta2.EtcdCluster, seen etcd.View) bool {
	return seen.Err == nil && !seen.At.IsZero() && !Restoring(c)
}

// BootstrapID returns the ID that etcd computes for a first member.
func BootstrapID(c *etcdv1beta2.EtcdCluster, name string) uint64 {
	return etcd.BootstrapID([]string{c.PeerURL(name)}, string(c.UID))
}

// FormatID formats a cluster ID as etcdctl does.
func FormatID(id uint64) string { return fmt.Sprintf("%016x", id) }

// Restoring reports whether a restore or a recovery is in progress.
func Restoring(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.Restore != nil && c.Status.Restore.Phase == etcdv1beta2.PhaseRestoring
}

// Token returns the initial cluster token for etcd. etcd derives IDs from this token. A restored cluster gets another
// token, so it shares no ID with the cluster that it replaces.
func Token(c *etcdv1beta2.EtcdCluster) string {
	if Restoring(c) {
		return string(c.UID) + "/" + c.Status.Restore.UID
	}
	return string(c.UID)
}

// PhaseOf returns the identity and phase of a restore as one comparable string; "" if there is no restore.
func PhaseOf(at *etcdv1beta2.RestoreProgress) string {
	if at == nil {
		return ""
	}
	return at.UID + " " + at.Phase
}

// Hibernating reports whether the spec requests hibernation: the cluster has no pods, and its data stays in claims.
func Hibernating(c *etcdv1beta2.EtcdCluster) bool {
	return c.Spec.Hibernate && Persistent(c) && c.Status.ClusterID != ""
}

// StartTime is how long etcd may take from its start until it answers.
const StartTime = 30 * time.Second
