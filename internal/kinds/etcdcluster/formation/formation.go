// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package formation decides when the first members have formed the cluster, and who is a member before and after that.
// Until then no client has written to the cluster, so pods and claims may be recreated. Package membership decides what
// happens to a cluster that was formed.
package formation

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds what the rules decide on.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Pods    map[string]*corev1.Pod
	Claims  map[string]*corev1.PersistentVolumeClaim
	// BegunWith is the number of first members with which this process began the cluster; 0 if another process began
	// it.
	BegunWith int32
	// QuorumSince is when the current quorum of first members was first seen. LastPod is when the last of their pods
	// came into the cache.
	QuorumSince, LastPod time.Time
}

// StragglerTime is how long the last first member may take once there is a quorum of first members. After that the
// cluster counts as formed without it. It is then replaced, as it may no longer start on an empty volume.
const StragglerTime = model.StartTime

// First returns the number of members that the cluster begins with. It is fixed when the first of them is created, as
// they all know each other from the start.
func (in *Input) First() int32 {
	if in.BegunWith > 0 {
		return in.BegunWith
	}
	recorded := ""
	name := model.MemberName(in.Cluster, 0) // every cluster has a member 0 at first
	if claim := in.Claims[name]; claim != nil {
		recorded = claim.Annotations[model.FirstMembersAnnotation]
	}
	if pod := in.Pods[name]; pod != nil {
		recorded = pod.Annotations[model.FirstMembersAnnotation]
	}
	if n, err := strconv.ParseInt(recorded, 10, 32); err == nil && n > 0 {
		return int32(n)
	}
	return in.Cluster.Spec.Size
}

// IsFormed reports whether the first members have just formed the cluster: either all of them have answered, or a
// quorum has answered for long enough.
func (in *Input) IsFormed() bool {
	if in.Cluster.Status.ClusterID != "" || !in.View.HasQuorum() || int32(len(in.View.Members)) != in.First() || !in.ofFirst() {
		return false
	}
	if !in.firstStay() || in.SeenBeforeLastPod() {
		return false
	}
	all := in.View.HealthyVoters() == len(in.View.Members)
	return all || !in.QuorumSince.IsZero() && in.Now.Sub(in.QuorumSince) >= StragglerTime
}

// firstStay reports whether the pods of all first members exist and are not being recreated. A view from before the
// last pod is outdated: a member that counted as formed by such a view would lose its data.
func (in *Input) firstStay() bool {
	for _, name := range in.firstNames() {
		pod := in.Pods[name]
		if pod == nil || pod.DeletionTimestamp != nil || model.Ended(pod) || settings.Differ(in.Cluster, pod) {
			return false
		}
	}
	return true
}

// ofFirst reports whether the members that answer are the first members of this cluster, and not of an earlier one.
func (in *Input) ofFirst() bool {
	for _, name := range in.firstNames() {
		if _, ok := in.View.Member(model.BootstrapID(in.Cluster, name)); !ok {
			return false
		}
	}
	return true
}

func (in *Input) firstNames() []string {
	var out []string
	for serial := range int64(in.First()) {
		out = append(out, model.MemberName(in.Cluster, serial))
	}
	return out
}

// SeenBeforeLastPod reports whether a quorum of the first members was seen, but before the last of their pods was
// known. The next view may show the same, and then no event starts a reconcile.
func (in *Input) SeenBeforeLastPod() bool {
	return in.Cluster.Status.ClusterID == "" && in.View.HasQuorum() && in.View.At.Before(in.LastPod)
}

// nextView is the longest time until the next view of the members.
const nextView = 500 * time.Millisecond

// NextLook returns how long it takes until the cluster counts as formed without the missing members, or until the next
// view. 0 if it does not depend on time.
func (in *Input) NextLook() time.Duration {
	switch {
	case in.Cluster.Status.ClusterID != "" || in.QuorumSince.IsZero():
		return 0
	case in.SeenBeforeLastPod():
		return nextView
	}
	return max(0, StragglerTime-in.Now.Sub(in.QuorumSince))
}

// AllCreated reports whether the pods of all first members exist, and no other pods.
func (in *Input) AllCreated() bool {
	for _, name := range in.firstNames() {
		if in.Pods[name] == nil {
			return false
		}
	}
	return int32(len(in.Pods)) == in.First()
}

// StartsOver reports whether all first members start again. A member has lost its emptyDir after the others knew it, so
// etcd does not let it join again, and the cluster cannot form without it. With claims, the user has to delete them.
func (in *Input) StartsOver() bool {
	if in.Cluster.Status.ClusterID != "" || model.Persistent(in.Cluster) || in.View.Stale || in.View.HasQuorum() {
		return false
	}
	for _, name := range in.firstNames() {
		status, asked := in.View.Status[model.BootstrapID(in.Cluster, name)]
		answers := asked && status.Err == nil
		if pod := in.Pods[name]; pod != nil && !answers && model.IsShutOut(pod) {
			return true
		}
	}
	return false
}
