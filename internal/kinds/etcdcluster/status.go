// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = []condition.Blocker{
	condition.Unless(etcdv1beta2.EtcdClusterChildrenReady),
	condition.WhenFalse(etcdv1beta2.EtcdClusterTLSReady),
	condition.Unless(etcdv1beta2.EtcdClusterAvailable),
	condition.Unless(etcdv1beta2.EtcdClusterMembersReady),
	condition.Unless(etcdv1beta2.EtcdClusterUpToDate),
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(c *etcdv1beta2.EtcdCluster, f facts, done kit.Outcome, now time.Time) {
	set := condition.Set{Conditions: &c.Status.Conditions, Generation: c.Generation, Now: now}
	if c.DeletionTimestamp != nil || f.behind {
		return
	}
	d := f.decide(c)
	f.reportNames(c, d)
	reportChildren(set, c, done)
	f.reportTLS(set, c)
	if c.Status.ClusterID != "" && f.view.At.IsZero() && !asleep(c) {
		reportUnseen(set, c)
		return
	}
	f.reportMembership(c, d)
	f.reportAvailable(set, c, d)
	f.reportMembers(set, c, d)
	f.reportUpToDate(set, c, d)
	f.reportProgress(set, c, d)
	reportPhase(c, d)
	ready := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterMembersReady)
	if asleep(c) {
		set.True(etcdv1beta2.EtcdClusterReady, etcdv1beta2.ReasonHibernating, ready.Message)
		return
	}
	set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, ready.Message)
}

// reportUnseen is for a process that has not looked at the members yet. What was last said stands,
// unless it was said of an earlier spec.
func reportUnseen(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	last := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterMembersReady)
	if last == nil || last.ObservedGeneration != c.Generation {
		set.False(etcdv1beta2.EtcdClusterMembersReady, common.ReasonUpdating, "The members have not been looked at since the spec changed")
		set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, "")
	}
}

func asleep(c *etcdv1beta2.EtcdCluster) bool {
	return c.Spec.Hibernate && persistent(c) && c.Status.ClusterID != ""
}

// reportNames fills in what follows from the object itself, and which members' pods are ready.
// Those that are on their way are named too: they come one after the other, and each would be
// a status of its own.
func (f facts) reportNames(c *etcdv1beta2.EtcdCluster, d decision) {
	s := &c.Status
	s.ControlPaused = c.Spec.Paused
	s.ServiceName, s.ClientPort, s.ConnectionConfigMap = clientService(c), etcdv1beta2.ClientPort, connectionMap(c)
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector(c)})
	s.Members = etcdv1beta2.MembersStatus{}
	for _, m := range d.members {
		switch {
		case m.pod != nil && workload.Ready(m.pod):
			s.Members.Ready = append(s.Members.Ready, m.name)
		case m.pod != nil || f.wantsPod(c, d, m):
			s.Members.Unready = append(s.Members.Unready, m.name)
		}
	}
	slices.Sort(s.Members.Ready)
	slices.Sort(s.Members.Unready)
}

// reportChildren tells of a pause of the contract's own too.
func reportChildren(set condition.Set, c *etcdv1beta2.EtcdCluster, done kit.Outcome) {
	const kind = etcdv1beta2.EtcdClusterChildrenReady
	kit.ReportChildren(set, kind, done)
	if c.Spec.Paused && done.Held > 0 {
		set.False(kind, common.ReasonPaused, fmt.Sprintf("spec.paused: %d changes are held back", done.Held))
	}
}

func (f facts) reportTLS(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	const kind = etcdv1beta2.EtcdClusterTLSReady
	switch {
	case len(bundles(c)) == 0:
		set.Remove(kind)
	case f.tls != nil:
		set.False(kind, f.tls.reason, f.tls.message)
	default:
		set.True(kind, etcdv1beta2.ReasonCertificatesFit, "The certificates are valid and name the members")
	}
}

// reportMembership notes what etcd itself says, and, once, that the cluster was formed.
func (f facts) reportMembership(c *etcdv1beta2.EtcdCluster, d decision) {
	s := &c.Status
	s.Serial = f.highest(c)
	for _, m := range d.members {
		s.Serial = max(s.Serial, m.serial)
	}
	if low := f.lowestRunning(c, d); low != "" {
		s.CurrentVersion = low
	}
	s.TargetVersion = d.target
	if f.formed(c) {
		s.ClusterID = clusterID(f.view.ClusterID)
	}
	if s.ClusterID == "" || f.view.Err != nil || f.view.At.IsZero() {
		return
	}
	s.Membership = nil
	for _, m := range d.members {
		s.Membership = append(s.Membership, etcdv1beta2.MemberIdentity{ID: fmt.Sprintf("%016x", m.id), Name: m.name, Learner: m.learner})
	}
	s.Size = int32(len(d.members))
}

// lowestRunning is the lowest version that any member runs; nothing before one has answered.
func (f facts) lowestRunning(c *etcdv1beta2.EtcdCluster, d decision) string {
	if !slices.ContainsFunc(d.members, func(m member) bool { return m.version != "" }) {
		return ""
	}
	d.members = slices.DeleteFunc(slices.Clone(d.members), func(m member) bool { return m.version == "" && c.Status.CurrentVersion == "" })
	return f.lowest(c, &d)
}

// reportAvailable tells whether a quorum is there, with the arithmetic.
func (f facts) reportAvailable(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterAvailable
	healthy, voters := 0, 0
	for _, m := range d.members {
		if m.voter() {
			voters++
			// Those that are left of a quorum follow nobody: they are not to blame.
			if m.healthy || m.answers && f.view.Err != nil {
				healthy++
			}
		}
	}
	needs := voters/2 + 1
	c.Status.Quorum = fmt.Sprintf("%d of %d voters are healthy, %d are needed", healthy, voters, needs)
	switch {
	case asleep(c):
		c.Status.Quorum = ""
		set.False(kind, etcdv1beta2.ReasonHibernating, "spec.hibernate: no member runs")
	case c.Status.ClusterID == "" && d.invalid != nil:
		set.False(kind, d.invalid.reason, d.invalid.message)
	case c.Status.ClusterID == "":
		c.Status.Quorum = ""
		set.False(kind, etcdv1beta2.ReasonCreating, f.beginning(d))
	case f.view.Err == nil && f.outOfSpace() != "":
		set.False(kind, etcdv1beta2.ReasonNoSpace, f.outOfSpace())
	case f.view.Err == nil && healthy >= needs:
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, "Cluster available: "+c.Status.Quorum)
	case healthy < needs:
		set.False(kind, etcdv1beta2.ReasonQuorumLost, "Quorum is lost: "+c.Status.Quorum+f.firstCause(d)+f.hopeless(c, d, needs))
	case f.view.Err == nil:
		set.Unknown(kind, etcdv1beta2.ReasonUnreachable, "The members decide, and do not all answer: "+c.Status.Quorum+f.firstCause(d))
	default:
		set.Unknown(kind, etcdv1beta2.ReasonUnreachable, fmt.Sprintf("The members cannot be listed: %v", f.view.Err))
	}
}

// outOfSpace tells of a member whose data is as large as it may be: then nobody can write.
func (f facts) outOfSpace() string {
	for _, m := range f.view.Members {
		status := f.view.Status[m.ID]
		if slices.Contains(status.Alarms(), etcd.Alarm{Member: m.ID, Kind: etcd.AlarmNoSpace}) {
			return fmt.Sprintf("Writes are refused: %s is out of space (alarm NOSPACE); compact, defragment and disarm, or set ETCD_QUOTA_BACKEND_BYTES in spec.pod.etcdEnv", m.Name)
		}
	}
	return ""
}

// hopeless says what a quorum that cannot come back by itself needs.
func (f facts) hopeless(c *etcdv1beta2.EtcdCluster, d decision, needs int) string {
	alive := 0
	for _, m := range d.members {
		if m.voter() && m.lost == "" {
			alive++
		}
	}
	if alive >= needs {
		return ""
	}
	return fmt.Sprintf("; only %d can still come back, so nothing is written to it any more: restore a backup", alive)
}

// firstCause names the first member that is not ready, and why; those that are lost go first.
func (f facts) firstCause(d decision) string {
	first := ""
	for _, m := range d.members {
		switch {
		case m.lost != "":
			return "; " + m.name + ": " + m.lost
		case !m.ready() && first == "":
			first = "; " + m.name + cmp.Or(f.whyNot(m), ": it does not answer yet")
		}
	}
	return first
}

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
	case d.invalid != nil && d.invalid.reason == etcdv1beta2.ReasonInvalidSpec:
		set.False(kind, d.invalid.reason, d.invalid.message)
	case c.Status.ClusterID == "":
		set.False(kind, etcdv1beta2.ReasonCreating, f.beginning(d))
	case f.anyLost(d):
		set.False(kind, etcdv1beta2.ReasonMemberLost, count+f.firstCause(d))
	case int32(len(d.members)) < c.Spec.Size:
		set.False(kind, etcdv1beta2.ReasonScalingUp, count+f.waiting(d))
	case int32(len(d.members)) > c.Spec.Size:
		set.False(kind, etcdv1beta2.ReasonScalingDown, fmt.Sprintf("The cluster goes from %d to %d members%s", len(d.members), c.Spec.Size, f.waiting(d)))
	case f.stray(d) != "":
		set.False(kind, etcdv1beta2.ReasonScalingDown, count+"; pod "+f.stray(d)+" of a member that was taken out is going")
	case ready < len(d.members) && f.begun(d):
		set.False(kind, common.ReasonApplying, "The cluster is formed, and its members are about to serve clients")
	case ready < len(d.members):
		set.False(kind, etcdv1beta2.ReasonMemberNotReady, count+f.firstCause(d))
	default:
		set.True(kind, etcdv1beta2.ReasonAllMembersReady, count)
	}
}

// beginning tells how far the first members are, in words that change only where one of them
// may need a hand.
func (f facts) beginning(d decision) string {
	for _, m := range d.members {
		if m.pod == nil {
			continue
		}
		if why, stuck := workload.WhyNotReady(m.pod); stuck {
			return fmt.Sprintf("The first %d members are starting; %s: %s", len(d.members), m.name, why)
		}
	}
	if f.view.Err != nil && f.runFor(d) > straggle {
		return fmt.Sprintf("The first %d members run, and do not answer: %v", len(d.members), f.view.Err)
	}
	return fmt.Sprintf("The first %d members are starting", len(d.members))
}

// runFor is for how long etcd has been running in all pods.
func (f facts) runFor(d decision) time.Duration {
	var least time.Duration
	for _, m := range d.members {
		since := runsSince(m.pod)
		if since.IsZero() {
			return 0
		}
		if ran := f.now.Sub(since); least == 0 || ran < least {
			least = ran
		}
	}
	return least
}

// begun tells that the cluster was formed only just now: all of its members answer, and none has
// served clients yet.
func (f facts) begun(d decision) bool {
	return !slices.ContainsFunc(d.members, func(m member) bool {
		since := runsSince(m.pod)
		return !m.healthy || since.IsZero() || f.now.Sub(since) > straggle
	})
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

func (f facts) anyLost(d decision) bool {
	return slices.ContainsFunc(d.members, func(m member) bool { return m.lost != "" })
}

func (f facts) waiting(d decision) string {
	switch {
	case d.waits != "":
		return "; it waits for " + d.waits
	case d.step != nil && f.refused != "":
		return fmt.Sprintf("; to %s is refused: %s", d.step.name, f.refused)
	}
	return ""
}

// reportUpToDate tells whether every member runs what the spec says.
func (f facts) reportUpToDate(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	const kind = etcdv1beta2.EtcdClusterUpToDate
	behind := 0
	for _, m := range d.members {
		if m.pod != nil && (outdated(c, m) || versionOf(m.pod) != wanted(c) || m.version != "" && m.version != versionOf(m.pod)) {
			behind++
		}
	}
	switch {
	case d.invalid != nil && d.invalid != f.tls:
		set.False(kind, d.invalid.reason, d.invalid.message)
	case behind > 0:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d members are not yet as the spec says%s", behind, len(d.members), f.waiting(d)))
	case asleep(c):
		set.True(kind, etcdv1beta2.ReasonHibernating, "No member runs")
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
	lost := formed && f.anyLost(d)
	while(lost, etcdv1beta2.EtcdClusterRecovering, etcdv1beta2.ReasonReplacingMember, "A member is being replaced"+f.firstCause(d))
	while(formed && size != c.Spec.Size && !lost, etcdv1beta2.EtcdClusterScaling, reason, sizes)
	while(formed && d.target != "", etcdv1beta2.EtcdClusterUpgrading, etcdv1beta2.ReasonClusterUpgrading, "upgrading to "+d.target)
}

// reportPhase fills in the contract's phase.
func reportPhase(c *etcdv1beta2.EtcdCluster, d decision) {
	s := &c.Status
	s.Phase, s.Reason = etcdv1beta2.PhaseCreating, ""
	switch {
	case s.ClusterID != "":
		s.Phase = etcdv1beta2.PhaseRunning
	case d.invalid != nil:
		s.Phase, s.Reason = etcdv1beta2.PhaseFailed, d.invalid.message
	}
}
