// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportMembers tells whether there are as many members as asked for, all of them well.
func (f facts) reportMembers(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterMembersReady
	ready := 0
	for _, m := range d.members {
		if m.voter() && m.ready() {
			ready++
		}
	}
	count := fmt.Sprintf("%d of %d members are ready", ready, c.Spec.Size)
	switch {
	case asleep(c):
		set.False(kind, etcdv1beta2.ReasonHibernating, fmt.Sprintf("spec.hibernate: no member runs; the claims of %d members are kept", len(f.claims)))
	case c.Status.ClusterID == "":
		reason, message := f.beginning(c, d)
		set.False(kind, reason, message)
	case d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec:
		set.False(kind, d.invalid.reason, d.invalid.message)
	case d.anyLost():
		set.False(kind, etcdv1beta2.ReasonMemberLost, count+f.firstCause(d))
	case int32(len(d.members)) < c.Spec.Size:
		set.False(kind, etcdv1beta2.ReasonScalingUp, count+f.waiting(d))
	case int32(len(d.members)) > c.Spec.Size:
		set.False(kind, etcdv1beta2.ReasonScalingDown, fmt.Sprintf("The cluster goes from %d to %d members%s", len(d.members), c.Spec.Size, f.waiting(d)))
	case f.stray(d) != "":
		set.False(kind, etcdv1beta2.ReasonScalingDown, count+"; pod "+f.stray(d)+" of a member that was taken out is going")
	case ready < len(d.members) && f.begun(d):
		set.False(kind, common.ReasonApplying, count+"; the others are about to serve clients")
	case ready < len(d.members):
		set.False(kind, etcdv1beta2.ReasonMemberNotReady, count+f.firstCause(d))
	default:
		set.True(kind, etcdv1beta2.ReasonAllMembersReady, count)
	}
}

// stray is a pod that is no member's any more, if there is one.
func (f facts) stray(d decision) string {
	for _, name := range slices.Sorted(maps.Keys(f.pods)) {
		if !slices.ContainsFunc(d.members, func(m member) bool { return m.name == name }) {
			return name
		}
	}
	return ""
}

// strayClaim tells of a claim that is no member's any more, and is not on its way out.
func (f facts) strayClaim(d decision) bool {
	for name, claim := range f.claims {
		if claim.DeletionTimestamp == nil && !d.has(name) {
			return true
		}
	}
	return false
}

func (d decision) anyLost() bool {
	return slices.ContainsFunc(d.members, func(m member) bool { return m.lost != "" })
}

func (f facts) waiting(d decision) string {
	switch {
	case d.waits != "":
		return "; it waits for " + d.waits
	case d.step != nil && f.refused.words != "":
		return fmt.Sprintf("; to %s is refused: %s", d.step.name, f.refused.words)
	}
	return ""
}

// behindSpec is how many members are not yet as the spec says.
func (f facts) behindSpec(c *etcdv1beta2.EtcdCluster, d decision) int {
	behind := 0
	for _, m := range d.members {
		owed, _ := underResize(m.pod)
		other := versionOf(m.pod) != wanted(c) || m.version != "" && m.version != versionOf(m.pod)
		if m.pod != nil && (differs(c, m) || m.resizes || owed != "" || other) {
			behind++
		}
	}
	return behind
}

// reportUpToDate tells whether every member runs what the spec says.
func (f facts) reportUpToDate(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterUpToDate
	behind := f.behindSpec(c, d)
	switch {
	case d.invalid != nil && (c.Status.ClusterID == "" || d.invalid != f.tls):
		set.False(kind, d.invalid.reason, d.invalid.message)
	case c.Status.ClusterID == "":
		set.False(kind, etcdv1beta2.ReasonCreating, "The first members are starting")
	case behind > 0:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d members are not yet as the spec says%s", behind, len(d.members), f.waiting(d)))
	case asleep(c):
		set.True(kind, etcdv1beta2.ReasonHibernating, "No member runs")
	case upkeepObstacle(c) != "":
		set.False(kind, etcdv1beta2.ReasonInvalidSpec, upkeepObstacle(c))
	case d.anyLost():
		set.True(kind, etcdv1beta2.ReasonAllUpToDate, "Every member that is left runs what the spec says")
	default:
		set.True(kind, etcdv1beta2.ReasonAllUpToDate, "Every member runs what the spec says")
	}
}

// reportProgress keeps the contract's conditions that are there only while something goes on.
func (f facts) reportProgress(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	formed, size := c.Status.ClusterID != "" && !asleep(c), int32(len(d.members))
	while := func(goesOn bool, kind, reason, message string) {
		if goesOn {
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
	lost := formed && d.anyLost()
	while(lost && !hopeless(d), etcdv1beta2.EtcdClusterRecovering, etcdv1beta2.ReasonReplacingMember, "A member is being replaced"+f.firstCause(d))
	while(formed && size != c.Spec.Size && !lost, etcdv1beta2.EtcdClusterScaling, reason, sizes)
	while(formed && d.target != "", etcdv1beta2.EtcdClusterUpgrading, etcdv1beta2.ReasonClusterUpgrading, "upgrading to "+d.target)
}

// reportPhase fills in the contract's phase.
func reportPhase(c *etcdv1beta2.EtcdCluster, d decision) {
	s := &c.Status
	s.Phase, s.Reason = etcdv1beta2.PhaseCreating, ""
	switch {
	case s.ClusterID != "" && hopeless(d):
		s.Phase, s.Reason = etcdv1beta2.PhaseFailed, "Quorum is lost for good: "+s.Quorum
	case s.ClusterID != "":
		s.Phase = etcdv1beta2.PhaseRunning
	case d.invalid != nil:
		s.Phase, s.Reason = etcdv1beta2.PhaseFailed, d.invalid.message
	}
}
