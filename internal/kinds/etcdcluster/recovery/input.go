// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds what the rules decide on.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// Backups are the EtcdBackups of the cluster. They are read when no member is left.
	Backups []*etcdv1beta2.EtcdBackup
	// HeldBy names what keeps a plan from being carried out; empty if nothing does.
	HeldBy string
	// Paused is true if pods are not recreated.
	Paused bool
}

// Plan is the plan to recover a cluster that has lost its quorum.
type Plan struct {
	etcdv1beta2.QuorumRecovery
	// Waits is what the plan waits for; empty if it can be carried out.
	Waits string
}

func isWanted(c *etcdv1beta2.EtcdCluster, digest string) bool {
	if IsDeclined(c) {
		return false
	}
	automatic := c.Spec.Recovery != nil && c.Spec.Recovery.QuorumLoss == etcdv1beta2.RecoveryAutomatic
	return automatic || c.Annotations[etcdv1beta2.RecoverAnnotation] == digest
}

// IsDeclined reports whether the user has declined any recovery, even one that is under way.
func IsDeclined(c *etcdv1beta2.EtcdCluster) bool {
	return c.Annotations[etcdv1beta2.RecoverAnnotation] == etcdv1beta2.RecoverNo
}
