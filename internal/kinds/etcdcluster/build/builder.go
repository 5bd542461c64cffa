// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Builder declares the pods and claims of the members of one cluster.
type Builder struct {
	Cluster                 *etcdv1beta2.EtcdCluster
	AgentImage, BackupImage string
	// FirstMembers is the number of members that form the cluster.
	FirstMembers int32
	// FormerServes is true if clients may still use a pod from before a restore. Until it is false, no pod of the
	// restored cluster gets clients, as writes would be split between two clusters.
	FormerServes bool
}

// formed reports whether the first members have formed the cluster: the status then has etcd's cluster ID.
func (b Builder) formed() bool { return b.Cluster.Status.ClusterID != "" }
