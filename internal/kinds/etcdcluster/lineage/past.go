// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// IsPast reports whether the status shows that the lineage of a pod or claim is over. A process with an older status
// does not know the other lineage, and deletes nothing of it.
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
		return in.whole() // the data stays until the restored cluster is whole
	default:
		return false
	}
}

// isLastCopy reports whether only the seed has a copy of a pod's data. This is so for the member that a recovery
// continued from, if it has no claim. Its cluster has no quorum, so it serves no client.
func (in *Input) isLastCopy(name string) bool {
	plan := in.Cluster.Status.Restore.Recovery
	return plan != nil && plan.Member == name && !model.Persistent(in.Cluster)
}

// settled reports whether there are enough ready voters for a quorum at the desired size. It does not wait for all, as
// a pod from before may occupy the node that the last member needs.
func (in *Input) settled() bool {
	ready := int32(0)
	for _, m := range in.Members {
		if m.Voter() && m.Ready() {
			ready++
		}
	}
	return in.Fresh && ready > in.Cluster.Spec.Size/2
}

// whole reports whether there are as many members as desired, and all of them are ready voters.
func (in *Input) whole() bool {
	for _, m := range in.Members {
		if !m.Ready() || m.Learner {
			return false
		}
	}
	return in.Fresh && int32(len(in.Members)) >= in.Cluster.Spec.Size
}
