// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds everything on which the rules of this package base their decisions.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// Backups are the EtcdBackups of the cluster. They are read only if all members are lost.
	Backups []*etcdv1beta2.EtcdBackup
	// HeldBy names what blocks a recovery, such as "spec.paused"; empty if nothing does.
	HeldBy string
	// Paused is true if the user has paused the cluster, so that opcrew recreates no pods.
	Paused bool
}

// Plan says how to recover a cluster that has lost its quorum.
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

// IsDeclined reports whether the user has declined every recovery, by annotation. This also cancels a recovery that is
// in progress.
func IsDeclined(c *etcdv1beta2.EtcdCluster) bool {
	return c.Annotations[etcdv1beta2.RecoverAnnotation] == etcdv1beta2.RecoverNo
}
