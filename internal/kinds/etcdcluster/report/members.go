// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Membership is the input for the conditions about the number and the readiness of members.
type Membership struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	Members []model.Member
	// Unknown explains why the status cannot report on the members; nil if it can.
	Unknown *model.Obstacle
	// Foreign are client URLs that members publish but that lead to none of the cluster's pods.
	Foreign []string
	// Claims is the number of claims of the cluster.
	Claims int
	// Leaving is the pod of a removed member that is being deleted; empty if there is none.
	Leaving string
	// Waiting is what the next change waits for, as a clause to append to a message.
	Waiting string
	// Target is the etcd version that members change to next; empty if they keep their version.
	Target string
	// Paused is true if the user has paused the cluster, so that opcrew recreates no pods.
	Paused bool
}

// Ready sets the condition MembersReady: whether the cluster has the desired number of members and all of them are
// ready.
func (m *Membership) Ready(set condition.Set) {
	const kind = etcdv1beta2.EtcdClusterMembersReady
	c, all, ready := m.Cluster, len(m.Members), m.readyVoters()
	count := fmt.Sprintf("%d of %d members are ready", ready, c.Spec.Size)
	switch {
	case model.Hibernating(c):
		set.False(kind, etcdv1beta2.ReasonHibernating, fmt.Sprintf("The cluster is hibernating (spec.hibernate), so no member is running; the claims of %d members are kept", m.Claims))
	case m.Unknown != nil:
		set.False(kind, m.Unknown.Reason, m.Unknown.Message)
	case len(m.Foreign) > 0:
		set.False(kind, etcdv1beta2.ReasonForeignURL, m.Foreign[0]+". Clients that use this URL leave the cluster; if you did not change the URL, delete the pod of the member")
	case recovery.AnyLost(m.Members):
		set.False(kind, etcdv1beta2.ReasonMemberLost, count+firstCause(m.Members, m.Paused))
	case int32(all) < c.Spec.Size:
		set.False(kind, etcdv1beta2.ReasonScalingUp, count+m.Waiting)
	case int32(all) > c.Spec.Size:
		set.False(kind, etcdv1beta2.ReasonScalingDown, fmt.Sprintf("The cluster is being scaled from %d to %d members%s", all, c.Spec.Size, m.Waiting))
	case m.Leaving != "":
		set.False(kind, etcdv1beta2.ReasonScalingDown, count+"; pod "+m.Leaving+" of a removed member is being deleted")
	case ready < all && m.justStarted():
		set.False(kind, common.ReasonApplying, count+"; the other members are about to serve clients")
	case ready < all:
		set.False(kind, etcdv1beta2.ReasonMemberNotReady, count+firstCause(m.Members, m.Paused))
	default:
		set.True(kind, etcdv1beta2.ReasonAllMembersReady, count)
	}
}

// readyVoters counts the members that vote and are ready.
func (m *Membership) readyVoters() int {
	ready := 0
	for _, member := range m.Members {
		if member.Voter() && member.Ready() {
			ready++
		}
	}
	return ready
}

// justStarted reports whether all members that are not ready have only just started: they answer, but may not serve
// clients yet.
func (m *Membership) justStarted() bool {
	return !slices.ContainsFunc(m.Members, func(member model.Member) bool {
		since := model.RunsSince(member.Pod)
		return !member.Ready() && (!member.Healthy || since.IsZero() || m.Now.Sub(since) > model.StartTime)
	})
}

// Progress sets the conditions Recovering, Scaling and Upgrading while they apply, and removes them otherwise.
func (m *Membership) Progress(set condition.Set) {
	c := m.Cluster
	formed, size := c.Status.ClusterID != "" && !model.Hibernating(c), int32(len(m.Members))
	while := func(underWay bool, kind, reason, message string) {
		if underWay {
			set.True(kind, reason, message)
		} else {
			set.Remove(kind)
		}
	}
	sizes := fmt.Sprintf("Current cluster size: %d, desired cluster size: %d", size, c.Spec.Size)
	reason := etcdv1beta2.ReasonScalingUp
	if size > c.Spec.Size {
		reason = etcdv1beta2.ReasonScalingDown
	}
	lost := formed && recovery.AnyLost(m.Members)
	while(lost && !recovery.Hopeless(m.Members), etcdv1beta2.EtcdClusterRecovering, etcdv1beta2.ReasonReplacingMember, "A member is being replaced"+firstCause(m.Members, m.Paused))
	while(formed && size != c.Spec.Size && !lost, etcdv1beta2.EtcdClusterScaling, reason, sizes)
	while(formed && m.Target != "", etcdv1beta2.EtcdClusterUpgrading, etcdv1beta2.ReasonClusterUpgrading, "upgrading to "+m.Target)
}

// Phase sets status.phase as the CoreOS operator did. invalid explains why opcrew cannot carry out the spec; nil if it
// can.
func (m *Membership) Phase(invalid *model.Obstacle) {
	s := &m.Cluster.Status
	s.Phase, s.Reason = etcdv1beta2.PhaseCreating, ""
	switch {
	case s.ClusterID != "" && recovery.Hopeless(m.Members):
		s.Phase, s.Reason = etcdv1beta2.PhaseFailed, "Quorum is permanently lost: "+s.Quorum
	case s.ClusterID != "":
		s.Phase = etcdv1beta2.PhaseRunning
	case invalid != nil:
		s.Phase, s.Reason = etcdv1beta2.PhaseFailed, invalid.Message
	}
}
