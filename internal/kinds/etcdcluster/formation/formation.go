// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package formation decides when the first members have formed the cluster, and who is a member before and after that.
//
// Until then no client has written to the cluster, so that pods and claims may be recreated. What happens to a cluster that
// was formed is decided in membership.
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

// Input is what the rules decide on.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Pods    map[string]*corev1.Pod
	Claims  map[string]*corev1.PersistentVolumeClaim
	// BegunWith is the number of first members that this process began the cluster with; 0: it did not.
	BegunWith int32
	// QuorumSince is since when a quorum of first members has been there. LastPod is when the last of their pods came into
	// the cache.
	QuorumSince, LastPod time.Time
}

// StragglerTime is how long the last of the first members may take once a quorum of them is there. Without one that takes
// longer the cluster is formed, and that member is replaced, as it may no longer start on an empty volume.
const StragglerTime = model.StartTime

// First is the number of members that the cluster begins with. It stays what it was when the first of them was created: they
// all know each other from the start.
func (in *Input) First() int32 {
	if in.BegunWith > 0 {
		return in.BegunWith
	}
	recorded := ""
	name := model.MemberName(in.Cluster, 0) // there is one in every cluster
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

// IsFormed reports whether the first members have just formed the cluster: all of them have answered, or a quorum has for
// long enough.
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

// firstStay reports whether the pods of all first members are there and stay. A view of one that is recreated is outdated,
// and so is any view from before the last pod: a member that were counted as formed would lose its data.
func (in *Input) firstStay() bool {
	for _, name := range in.firstNames() {
		pod := in.Pods[name]
		if pod == nil || pod.DeletionTimestamp != nil || model.Ended(pod) || settings.Differ(in.Cluster, pod) {
			return false
		}
	}
	return true
}

// ofFirst reports whether the members that answer are the first members of this very cluster.
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

// SeenBeforeLastPod reports whether a quorum of the first members was seen, but before the last of their pods was known. The
// next view may show the same, and starts no reconcile by itself.
func (in *Input) SeenBeforeLastPod() bool {
	return in.Cluster.Status.ClusterID == "" && in.View.HasQuorum() && in.View.At.Before(in.LastPod)
}

// nextView is how long it takes at most until there is another view of members.
const nextView = 500 * time.Millisecond

// NextLook is how long it takes until the cluster is formed without those that are missing, or by what the next view shows;
// 0: it does not depend on time.
func (in *Input) NextLook() time.Duration {
	switch {
	case in.Cluster.Status.ClusterID != "" || in.QuorumSince.IsZero():
		return 0
	case in.SeenBeforeLastPod():
		return nextView
	}
	return max(0, StragglerTime-in.Now.Sub(in.QuorumSince))
}

// AllCreated reports whether all pods of first members are there, and no others.
func (in *Input) AllCreated() bool {
	for _, name := range in.firstNames() {
		if in.Pods[name] == nil {
			return false
		}
	}
	return int32(len(in.Pods)) == in.First()
}

// StartsOver reports whether the first members start again, all of them. One has lost its emptyDir after the others had
// heard of it, so that etcd does not let it in again, and without it they cannot form the cluster. No client has written to
// it. Where there are claims the user has to delete them.
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
