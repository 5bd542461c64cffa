// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Obstacle is the reason and message of a condition that explains why something cannot be done.
type Obstacle struct{ Reason, Message string }

// NewObstacle returns an Obstacle with a reason and a message for Ready.
func NewObstacle(reason, message string) *Obstacle { return &Obstacle{reason, message} }

// Decides reports whether a view shows a cluster with a quorum. During a restore the view is of the seed, so it does
// not.
func Decides(c *etcdv1beta2.EtcdCluster, seen etcd.View) bool {
	return seen.Err == nil && !seen.At.IsZero() && !Restoring(c) // during a restore the view is of the seed
}

// BootstrapID returns the id that etcd gives to a first member.
func BootstrapID(c *etcdv1beta2.EtcdCluster, name string) uint64 {
	return etcd.BootstrapID([]string{c.PeerURL(name)}, string(c.UID))
}

// FormatID formats a cluster ID as etcdctl does.
func FormatID(id uint64) string { return fmt.Sprintf("%016x", id) }

// Restoring reports whether a restore or a recovery has begun and has not ended.
func Restoring(c *etcdv1beta2.EtcdCluster) bool {
	return c.Status.Restore != nil && c.Status.Restore.Phase == etcdv1beta2.PhaseRestoring
}

// Token returns etcd's initial cluster token of the lineage. etcd derives ids from it, so that two lineages have no id
// in common.
func Token(c *etcdv1beta2.EtcdCluster) string {
	if Restoring(c) {
		return string(c.UID) + "/" + c.Status.Restore.UID
	}
	return string(c.UID)
}

// PhaseOf returns the phase and the identity of a restore; "" if there is none.
func PhaseOf(at *etcdv1beta2.RestoreProgress) string {
	if at == nil {
		return ""
	}
	return at.UID + " " + at.Phase
}

// Hibernating reports whether the cluster should have no pods, and has data to start with later.
func Hibernating(c *etcdv1beta2.EtcdCluster) bool {
	return c.Spec.Hibernate && Persistent(c) && c.Status.ClusterID != ""
}

// StartTime is how long etcd may take from its start until it answers.
const StartTime = 30 * time.Second
