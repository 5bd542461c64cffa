// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = append(slices.Clone(serving), condition.Unless(etcdv1beta2.EtcdClusterUpToDate))

// serving are those of them without which clients or their data are worse off.
var serving = []condition.Blocker{
	condition.Unless(etcdv1beta2.EtcdClusterChildrenReady),
	condition.WhenFalse(etcdv1beta2.EtcdClusterTLSReady),
	condition.Unless(etcdv1beta2.EtcdClusterAvailable),
	condition.Unless(etcdv1beta2.EtcdClusterMembersReady),
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(c *etcdv1beta2.EtcdCluster, f facts, done kit.Outcome, now time.Time) {
	before := c.Status.DeepCopy()
	f.report(c, done, now)
	f.noteDecided(before, &c.Status)
}

func (f facts) report(c *etcdv1beta2.EtcdCluster, done kit.Outcome, now time.Time) {
	set := condition.Set{Conditions: &c.Status.Conditions, Generation: c.Generation, Now: now}
	if c.DeletionTimestamp != nil || f.behind {
		return
	}
	switch {
	case f.orphan(c) != "" && !f.recollect(c):
		f.reportStatusLost(set, c)
		return
	case f.takesUp(c):
		f.takeUp(set, c)
		return
	case restoring(c):
		kit.ReportChildren(set, etcdv1beta2.EtcdClusterChildrenReady, done)
		f.reportRestore(set, c, done)
		return
	}
	d := f.decide(c)
	f.reportNames(c, d)
	kit.ReportChildren(set, etcdv1beta2.EtcdClusterChildrenReady, done)
	f.reportTLS(set, c)
	if c.Status.ClusterID != "" && f.view.At.IsZero() && !asleep(c) {
		reportUnseen(set, c)
		return
	}
	f.reportMembership(c, d)
	f.reportQuorumLoss(c, d)
	f.reportAvailable(set, c, d)
	f.reportMembers(set, c, d)
	volumes := f.reportUpToDate(set, c, d)
	f.reportProgress(set, c, d)
	reportPhase(c, d)
	ready := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterMembersReady)
	switch {
	case asleep(c):
		set.True(etcdv1beta2.EtcdClusterReady, etcdv1beta2.ReasonHibernating, ready.Message)
	case volumes != "":
		set.SumUp(serving, etcdv1beta2.ReasonAllMembersReady, ready.Message+"; "+volumes)
	default:
		set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, ready.Message)
	}
	f.hanging(c, d).Report(set)
	f.reportPlacement(set, c, d)
}

// Records has it written at once that the cluster was formed: clients may come from then on. And
// what its first members may have run, and since when none has, before more is done.
func (r *reconciler) Records(before, now *etcdv1beta2.EtcdCluster) bool {
	a, b := before.Status, now.Status
	return a.ClusterID != b.ClusterID || phaseOf(a.Restore) != phaseOf(b.Restore) || a.FormedWith != "" && a.FormedWith != b.FormedWith || a.SnapshotFrom != b.SnapshotFrom
}

// phaseOf is how far a restore is, and which.
func phaseOf(at *etcdv1beta2.RestoreProgress) string {
	if at == nil {
		return ""
	}
	return at.UID + " " + at.Phase
}

// reportUnseen is for a process that has not looked at the members yet. What was last said stands,
// unless it was said of an earlier spec, or pods are missing by now.
func reportUnseen(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	const kind = etcdv1beta2.EtcdClusterMembersReady
	last := meta.FindStatusCondition(c.Status.Conditions, kind)
	switch ready := len(c.Status.Members.Ready); {
	case last == nil || last.ObservedGeneration != c.Generation:
		set.False(kind, common.ReasonUpdating, "The members have not been looked at since the spec changed")
	case last.Status == metav1.ConditionTrue && ready < int(c.Status.Size):
		set.False(kind, etcdv1beta2.ReasonMemberNotReady, fmt.Sprintf("%d of %d pods of members are ready; the members are about to be looked at", ready, c.Status.Size))
	default:
		return
	}
	set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, "")
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
	if s.ClusterID == "" {
		s.FormedWith = f.formedWith(c)
	}
	if f.formed(c) {
		s.ClusterID = clusterID(f.view.ClusterID)
	}
	s.SnapshotFrom = f.snapshotFrom(c, &d)
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
