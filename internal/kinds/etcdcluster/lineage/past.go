// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// IsPast reports whether a pod or claim belongs to a cluster that a restore has replaced, or to a canceled restore, and
// may be deleted. It returns false if the status that opcrew has read is older than the restore.
func (in *Input) IsPast(object client.Object) bool {
	switch model.LineageOf(in.Cluster, object.GetName()) {
	case model.OfSeed:
		return in.Cluster.Status.Restore.Phase == etcdv1beta2.PhaseAbandoned
	case model.Former:
		switch _, isPod := object.(*corev1.Pod); {
		case isPod && in.isLastCopy(object.GetName()):
			return in.settled()
		case isPod:
			return true
		}
		return in.whole() // the old data stays until all restored members are ready
	default:
		return false
	}
}

// isLastCopy reports whether a recovery uses the data of this pod, and the pod has no claim. The pod and the restored
// member then have the only copies of the data. Keeping the pod does no harm: without a quorum it serves no client.
func (in *Input) isLastCopy(name string) bool {
	plan := in.Cluster.Status.Restore.Recovery
	return plan != nil && plan.Member == name && !model.Persistent(in.Cluster)
}

// settled reports whether enough restored members are ready for a quorum of the desired size. It does not wait for all
// of them, because an old pod may occupy the node that the last member needs.
func (in *Input) settled() bool {
	ready := int32(0)
	for _, m := range in.Members {
		if m.Voter() && m.Ready() {
			ready++
		}
	}
	return in.Fresh && ready > in.Cluster.Spec.Size/2
}

// whole reports whether the cluster has the desired number of members and all of them are ready voters.
func (in *Input) whole() bool {
	for _, m := range in.Members {
		if !m.Ready() || m.Learner {
			return false
		}
	}
	return in.Fresh && int32(len(in.Members)) >= in.Cluster.Spec.Size
}
