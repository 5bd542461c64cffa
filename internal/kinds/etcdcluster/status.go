// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/certificates"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/report"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/rollout"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/snapshot"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// Report sets the status from the facts that were read, the decision, and the results of the plan (done).
func (*reconciler) Report(c *etcdv1beta2.EtcdCluster, f facts, d decision, done kit.Outcome) {
	before := c.Status.DeepCopy()
	r := reporter{f, c, d}
	r.fillStatus(done)
	r.noteDecided(before)
}

func (r reporter) fillStatus(done kit.Outcome) {
	f, c, d := r.facts, r.c, r.d
	set := condition.Set{Conditions: &c.Status.Conditions, Generation: c.Generation, Now: done.Now}
	if d.recollected {
		f.formation(c).Recollect()
	}
	switch d.stage {
	case deleted, behind:
		return
	case statusLost:
		reportStatusLost(set, f.formation(c).StatusLost())
		return
	case beginning:
		f.restoreInput(c).Begin(f.formation(c).NextSerial(d.members)+model.SerialsAhead, d.recovery)
		f.restoreInput(c).ReportRestoring(set, "a member is about to start with the restored data")
		return
	case restoring:
		done.ReportChildren(set, etcdv1beta2.EtcdClusterChildrenReady)
		f.restoreInput(c).Report(set, done)
		return
	}
	r.reportNames()
	done.ReportChildren(set, etcdv1beta2.EtcdClusterChildrenReady)
	r.reportTLS(set)
	if c.Status.ClusterID != "" && f.view.At.IsZero() && !model.Hibernating(c) {
		reportUnseen(set, c)
		return
	}
	r.reportMembership()
	c.Status.QuorumLoss = r.quorumLoss()
	r.availability().Available(set)
	members := r.membership()
	members.Ready(set)
	note := r.currency().UpToDate(set)
	members.Progress(set)
	members.Phase(d.invalid)
	ready := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterMembersReady)
	switch {
	case model.Hibernating(c):
		set.True(etcdv1beta2.EtcdClusterReady, etcdv1beta2.ReasonHibernating, ready.Message)
	case note != "":
		set.SumUp(serving, etcdv1beta2.ReasonAllMembersReady, ready.Message+"; "+note)
	default:
		set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, ready.Message)
	}
	planner{f, c, d}.hanging().Report(set)
	if c.Status.ClusterID == "" || model.Hibernating(c) {
		set.Remove(common.ConditionPlacement)
	} else {
		report.Placement(set, d.members)
	}
}

// records reports whether the status must be written at once, because later steps rely on it: the first members have
// formed the cluster, a restore has progressed, or the versions that members may have run have changed.
func (r *reconciler) records(before, now *etcdv1beta2.EtcdCluster) bool {
	a, b := before.Status, now.Status
	return a.ClusterID != b.ClusterID || model.PhaseOf(a.Restore) != model.PhaseOf(b.Restore) || a.FormedWith != "" && a.FormedWith != b.FormedWith || a.SnapshotFrom != b.SnapshotFrom
}

// reportUnseen sets the status after a restart of the operator, while this process has no view of the members yet. It
// keeps the previous conditions, except those that are for an earlier spec, or that cannot be true because pods are
// missing now.
func reportUnseen(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	const kind = etcdv1beta2.EtcdClusterMembersReady
	last := meta.FindStatusCondition(c.Status.Conditions, kind)
	switch ready := len(c.Status.Members.Ready); {
	case last == nil || last.ObservedGeneration != c.Generation:
		set.False(kind, common.ReasonUpdating, "opcrew has not read the members since the spec changed")
	case last.Status == metav1.ConditionTrue && ready < int(c.Status.Size):
		set.False(kind, etcdv1beta2.ReasonMemberNotReady, fmt.Sprintf("%d of %d pods of members are ready; opcrew is about to read the members", ready, c.Status.Size))
	default:
		return
	}
	set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, "")
}

// reportNames sets the names and addresses in the status, and lists which members' pods are ready. It lists a member as
// unready even before its pod exists, so that the creation of each pod does not cause a status write.
func (r reporter) reportNames() {
	c, d := r.c, r.d
	s := &c.Status
	s.ControlPaused = c.Spec.Paused
	s.ServiceName, s.ClientPort, s.ConnectionConfigMap = model.ClientService(c), etcdv1beta2.ClientPort, model.ConnectionMap(c)
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: model.Selector(c)})
	s.Members = etcdv1beta2.MembersStatus{}
	for _, m := range d.members {
		switch {
		case m.Pod != nil && workload.Ready(m.Pod):
			s.Members.Ready = append(s.Members.Ready, m.Name)
		case m.Pod != nil || planner{r.facts, c, d}.wantsPod(m):
			s.Members.Unready = append(s.Members.Unready, m.Name)
		}
	}
	slices.Sort(s.Members.Ready)
	slices.Sort(s.Members.Unready)
}

func (r reporter) reportTLS(set condition.Set) {
	c := r.c
	set.Remark(common.ConditionProtectionMissing, common.ReasonProtectionMissing, c.Unprotected())
	const kind = etcdv1beta2.EtcdClusterTLSReady
	switch {
	case len(certificates.Bundles(c)) == 0:
		set.Remove(kind)
	case r.tls != nil:
		set.False(kind, r.tls.Reason, r.tls.Message)
	default:
		set.True(kind, etcdv1beta2.ReasonCertificatesFit, "The certificates are valid and name the members")
	}
}

// reportMembership records the members that etcd lists. Once the first members have formed the cluster, it also records
// the cluster ID.
func (r reporter) reportMembership() {
	c, d := r.c, r.d
	s := &c.Status
	s.Serial = r.formation(c).HighestSerial()
	for _, m := range d.members {
		s.Serial = max(s.Serial, m.Serial)
	}
	if low := r.lowestRunning(); low != "" {
		s.CurrentVersion = low
	}
	s.TargetVersion = d.target
	if s.ClusterID == "" {
		s.FormedWith = r.formedWith()
	}
	if r.formation(c).IsFormed() {
		s.ClusterID = model.FormatID(r.view.ClusterID)
	}
	s.SnapshotFrom = r.snapshotFrom()
	if s.ClusterID == "" || r.view.Err != nil || r.view.At.IsZero() {
		return
	}
	s.Membership = nil
	for _, m := range d.members {
		s.Membership = append(s.Membership, etcdv1beta2.MemberIdentity{ID: fmt.Sprintf("%016x", m.ID), Name: m.Name, Learner: m.Learner})
	}
	s.Size = int32(len(d.members))
}

// lowestRunning returns the lowest version that any member runs; "" until a member has answered.
func (r reporter) lowestRunning() string {
	c, d := r.c, r.d
	if !slices.ContainsFunc(d.members, func(m model.Member) bool { return m.Version != "" }) {
		return ""
	}
	d.members = slices.DeleteFunc(slices.Clone(d.members), func(m model.Member) bool { return m.Version == "" && c.Status.CurrentVersion == "" })
	return rollout.Lowest(d.members)
}

// formedWith returns the lowest version that any of the members that formed the cluster may have run.
func (r reporter) formedWith() string {
	c := r.c
	seen := []string{versions.Desired(c)}
	for _, pod := range r.pods {
		seen = append(seen, model.VersionOf(pod))
	}
	return snapshot.FormedWith(c.Status.FormedWith, seen, r.view)
}

// snapshotFrom returns the log index after which etcd 3.7 can read all entries; 0 if it is unknown.
func (r reporter) snapshotFrom() int64 {
	c, d := r.c, r.d
	if c.Status.ClusterID == "" {
		return c.Status.SnapshotFrom
	}
	return snapshot.From(r.snapshotInput(c, &d))
}

// quorumLoss returns the status report about a lost quorum; nil if the members have a quorum.
func (r reporter) quorumLoss() *etcdv1beta2.QuorumLoss {
	c, d := r.c, r.d
	if r.view.Err == nil || c.Status.ClusterID == "" || model.Hibernating(c) || r.availability().IsMistaken() {
		return nil
	}
	return recovery.Loss(r.recoveryInput(c, d.members), d.recovery)
}

// noteDecided records in the status the log position at which the cluster last had a quorum, for a restarted operator.
// The position changes all the time, so it is recorded only when another field changes. Changed conditions do not
// count, because every report may change them.
func (r reporter) noteDecided(before *etcdv1beta2.EtcdClusterStatus) {
	c := r.c
	was, is := *before, c.Status
	was.Conditions, is.Conditions = nil, nil
	if last := r.recoveryInput(c, nil).LastDecided(); last != nil && !equality.Semantic.DeepEqual(was, is) {
		c.Status.Decided = last
	}
}

func reportStatusLost(set condition.Set, message string) {
	set.False(etcdv1beta2.EtcdClusterAvailable, etcdv1beta2.ReasonStatusLost, message)
	set.False(etcdv1beta2.EtcdClusterMembersReady, etcdv1beta2.ReasonStatusLost, message)
	set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, "")
}
