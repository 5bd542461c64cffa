// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// reportMembers reports whether there are as many members as asked for, all of them well.
func (f facts) reportMembers(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterMembersReady
	ready := d.readyVoters()
	count := fmt.Sprintf("%d of %d members are ready", ready, c.Spec.Size)
	switch {
	case asleep(c):
		set.False(kind, etcdv1beta2.ReasonHibernating, fmt.Sprintf("spec.hibernate: no member runs; the claims of %d members are kept", len(f.claims)))
	case c.Status.ClusterID == "":
		reason, message := f.beginning(c, d)
		set.False(kind, reason, message)
	case d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec:
		set.False(kind, d.invalid.reason, d.invalid.message)
	case f.mistaken(d):
		set.False(kind, etcdv1beta2.ReasonClusterIDMismatch, "The members are not known: "+f.view.Err.Error())
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

// readyVoters counts the members that vote and are ready.
func (d decision) readyVoters() int {
	ready := 0
	for _, m := range d.members {
		if m.voter() && m.ready() {
			ready++
		}
	}
	return ready
}

// stray is a pod that is no member's any more and is about to go, if there is one.
func (f facts) stray(d decision) string {
	for _, pod := range f.strays(d) {
		if !workload.Stuck(pod, f.now) {
			return pod.Name
		}
	}
	return ""
}

// strays are the pods that are no member's any more.
func (f facts) strays(d decision) []*corev1.Pod {
	var out []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(f.pods)) {
		if !d.has(name) {
			out = append(out, f.pods[name])
		}
	}
	return out
}

// hanging are the pods that are stuck on their way out and hold up nothing: those of members that were taken out, and
// those from before a restore once they cannot have clients any more.
func (f facts) hanging(c *etcdv1beta2.EtcdCluster, d decision) workload.Leftovers {
	pods := f.strays(d)
	for _, pod := range f.others.pods {
		if lineageOf(c, pod.Name) == ofFormer && !f.formerServes(c) {
			pods = append(pods, pod)
		}
	}
	return workload.StuckOf(pods, f.now)
}

// strayClaim reports a claim that is no member's any more, and is not on its way out.
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
		if m.claimDiffers != "" || m.pod != nil && (differs(c, m) || m.resizes || owed != "" || other) {
			behind++
		}
	}
	return behind
}

// reportUpToDate says whether every member runs what the spec says. It returns what it says of the size of volumes; ""
// where it speaks of something else.
func (f facts) reportUpToDate(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) (volumes string) {
	const kind = etcdv1beta2.EtcdClusterUpToDate
	behind := f.behindSpec(c, d)
	reason, volumes := f.aboutVolumes()
	switch {
	case d.invalid != nil && (c.Status.ClusterID == "" || d.invalid != f.tls):
		set.False(kind, d.invalid.reason, d.invalid.message)
	case c.Status.ClusterID == "":
		set.False(kind, etcdv1beta2.ReasonCreating, "The first members are starting")
	case behind > 0:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d members are not yet as the spec says%s%s", behind, len(d.members), f.replaces(c, d), f.waiting(d)))
	case upkeepObstacle(c) != "" && !asleep(c):
		set.False(kind, etcdv1beta2.ReasonInvalidSpec, upkeepObstacle(c))
	case volumes != "":
		set.False(kind, reason, volumes)
		return volumes
	case asleep(c):
		set.True(kind, etcdv1beta2.ReasonHibernating, "No member runs")
	case d.anyLost():
		set.True(kind, etcdv1beta2.ReasonAllUpToDate, "Every member that is left runs what the spec says")
	default:
		set.True(kind, etcdv1beta2.ReasonAllUpToDate, "Every member runs what the spec says")
	}
	return ""
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
