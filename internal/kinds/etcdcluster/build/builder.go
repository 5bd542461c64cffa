// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Builder declares the pods and claims of members.
type Builder struct {
	Cluster                 *etcdv1beta2.EtcdCluster
	AgentImage, BackupImage string
	// FirstMembers is the number of members that the cluster begins with.
	FirstMembers int32
	// FormerServes is true if a pod from before a restore may still have clients. Then no other pod gets clients.
	FormerServes bool
}

// formed reports whether the first members have formed the cluster.
func (b Builder) formed() bool { return b.Cluster.Status.ClusterID != "" }
