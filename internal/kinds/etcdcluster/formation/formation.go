// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package formation decides when the first members have formed the cluster, that is, have had a quorum, and lists its
// members. Before that, no client has written to the cluster, so pods and claims may be recreated. Package membership
// handles formed clusters.
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

// Input holds what the rules of this package need for their decisions.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Pods    map[string]*corev1.Pod
	Claims  map[string]*corev1.PersistentVolumeClaim
	// BegunWith is the number of first members with which this process created the cluster; 0 if another process
	// created it.
	BegunWith int32
	// QuorumSince is when the current quorum of the first members began, as observed by this process. LastPod is when
	// the last pod of a first member appeared in the cache.
	QuorumSince, LastPod time.Time
}

// StragglerTime is how long opcrew waits for the last of the first members once the others have a quorum. After that,
// the cluster counts as formed, and opcrew replaces the missing member, which must no longer start on an empty volume.
const StragglerTime = model.StartTime

// First returns the number of members that form the cluster. It is fixed when the first of them is created, because the
// flags of each of these members list all of them.
func (in *Input) First() int32 {
	if in.BegunWith > 0 {
		return in.BegunWith
	}
	recorded := ""
	name := model.MemberName(in.Cluster, 0) // every new cluster has a member 0
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

// IsFormed reports whether the first members have now formed the cluster: all of them have answered, or a quorum has
// answered for StragglerTime.
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

// firstStay reports whether the pods of all first members exist and none is about to be recreated. A recreated pod may
// have an empty volume, so answers of the old pod must not make the cluster count as formed.
func (in *Input) firstStay() bool {
	for _, name := range in.firstNames() {
		pod := in.Pods[name]
		if pod == nil || pod.DeletionTimestamp != nil || model.Ended(pod) || settings.Differ(in.Cluster, pod) {
			return false
		}
	}
	return true
}

// ofFirst reports whether the members that answer are the first members of this cluster. Members of an earlier cluster
// with the same name have other IDs.
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

// SeenBeforeLastPod reports whether the prober last found a quorum of first members before the cache contained all of
// their pods. If the prober finds the same again, no event starts a reconcile, so the caller must schedule one.
func (in *Input) SeenBeforeLastPod() bool {
	return in.Cluster.Status.ClusterID == "" && in.View.HasQuorum() && in.View.At.Before(in.LastPod)
}

// nextView is the longest time until the prober reads the members again.
const nextView = 500 * time.Millisecond

// NextLook returns how long to wait until the next reconcile, if the first members have a quorum but do not count as a
// formed cluster yet: until the prober reads the members again, or until StragglerTime has passed. It returns 0 if no
// reconcile is needed.
func (in *Input) NextLook() time.Duration {
	switch {
	case in.Cluster.Status.ClusterID != "" || in.QuorumSince.IsZero():
		return 0
	case in.SeenBeforeLastPod():
		return nextView
	}
	return max(0, StragglerTime-in.Now.Sub(in.QuorumSince))
}

// AllCreated reports whether the pods of all first members exist and there are no other pods.
func (in *Input) AllCreated() bool {
	for _, name := range in.firstNames() {
		if in.Pods[name] == nil {
			return false
		}
	}
	return int32(len(in.Pods)) == in.First()
}

// StartsOver reports whether to recreate all first members. This is needed if a member has lost its emptyDir after the
// others had recorded the member: etcd then refuses to start on the empty volume, and the cluster cannot form. If the
// members have claims, opcrew recreates nothing, and the user must delete the claims.
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
