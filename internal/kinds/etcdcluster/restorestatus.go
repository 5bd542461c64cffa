// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// goesOver is what is said between the moment that the seed is the cluster and that clients are led to it.
func (f facts) goesOver(c *etcdv1beta2.EtcdCluster) string {
	const what = "The cluster goes over to what was restored: clients are led there when no pod of before serves"
	if still := f.formerDecide(c); still != "" {
		return what + ", and these may: " + still
	}
	return what
}

// takeUp writes a restore down before anything of it is done.
func (f facts) takeUp(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	s := &c.Status
	serial := f.nextSerial(c, f.members(c)) + ahead // one that no member which is about to be made can have
	at := &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseRestoring, Serial: serial, Since: s.Restore.Began(), Above: f.seenRevision(s.Restore)}
	if f.takesRestore(c) {
		at.UID = string(f.restore.UID)
	} else {
		plan := f.takesRecovery(c).QuorumRecovery
		plan.Former, plan.Unusable = former(s.Restore), unusable(s.Restore)
		at.UID, at.Recovery = fmt.Sprintf("%s-%d", plan.Digest, serial), &plan // a second try is another lineage
	}
	s.Restore, s.Serial = at, max(s.Serial, serial)
	f.tellRestoring(set, c, "a member is about to begin with it")
}

// seenRevision is the highest revision that is known to have been reached, by what members say and an earlier restore has
// noted. What was written since that, and no one can tell of, is far less than a restore adds.
func (f facts) seenRevision(last *etcdv1beta2.RestoreProgress) int64 {
	var seen int64
	if last != nil {
		seen = max(last.Above, last.Revision)
	}
	for _, status := range f.view.Status {
		seen = max(seen, status.Revision)
	}
	return seen
}

// reportRestore says how far a restore is, and, when its seed serves, makes that the cluster.
func (f facts) reportRestore(set condition.Set, c *etcdv1beta2.EtcdCluster, done kit.Outcome) {
	at, seed := c.Status.Restore, f.seed(c)
	switch {
	case f.isCalledOff(c):
		f.noteUnusable(c)
		at.Phase, at.Reason, at.Message = etcdv1beta2.PhaseAbandoned, etcdv1beta2.ReasonAbandoned, "It was called off before it was done; the cluster is what it was"
		set.False(etcdv1beta2.EtcdClusterReady, common.ReasonUpdating, "The restore was called off; the cluster is what it was")
		return
	case f.seedIsLive:
		f.cutOver(c, seed)
		set.False(etcdv1beta2.EtcdClusterAvailable, etcdv1beta2.ReasonRestoring, f.goesOver(c))
		set.False(etcdv1beta2.EtcdClusterReady, etcdv1beta2.ReasonRestoring, "The restored member serves, and the cluster goes on from it")
		return
	}
	at.Reason, at.Message = f.whyNotRestored(c, seed, done)
	f.tellRestoring(set, c, at.Message)
}

// tellRestoring leaves what is said of the cluster as it was, which is what it is, but for Ready, and for Available
// where that is not known any more.
func (f facts) tellRestoring(set condition.Set, c *etcdv1beta2.EtcdCluster, how string) {
	f.tellServing(set, c)
	reason := etcdv1beta2.ReasonRestoring
	if at := c.Status.Restore; at.Reason != "" {
		reason = at.Reason
	}
	name := "The recovery"
	if from := f.origin(c); from != nil {
		name = from.name
	}
	set.False(etcdv1beta2.EtcdClusterReady, reason, fmt.Sprintf("%s: %s; until it serves the cluster stays what it is", name, how))
}

// tellServing goes by the members' pods: they are ready with a quorum only. The members themselves are not asked, as it
// is the seed that is looked at.
func (f facts) tellServing(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	const kind = etcdv1beta2.EtcdClusterAvailable
	ready, voters := 0, int(votersOf(c.Status.Membership))
	for _, m := range f.members(c) {
		if m.voter() && m.pod != nil && workload.Ready(m.pod) {
			ready++
		}
	}
	last, needs := meta.FindStatusCondition(c.Status.Conditions, kind), voters/2+1
	switch {
	case voters == 0 || last == nil:
	case last.Status == metav1.ConditionTrue && ready < needs:
		set.Unknown(kind, etcdv1beta2.ReasonRestoring, fmt.Sprintf("%d of %d pods of voters are ready, %d are needed; the members are not asked while a restore goes on", ready, voters, needs))
	case last.Status == metav1.ConditionUnknown && last.Reason == etcdv1beta2.ReasonRestoring && ready >= needs:
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, fmt.Sprintf("Cluster available: %d of %d pods of voters are ready, %d are needed", ready, voters, needs))
	}
}

// cutOver makes the seed the cluster. With this one write all that is of the former lineage is past.
func (f facts) cutOver(c *etcdv1beta2.EtcdCluster, seed member) {
	s, at := &c.Status, c.Status.Restore
	at.Phase, at.Reason, at.Message = etcdv1beta2.PhaseRestored, "", ""
	if result := restoreResult(seed.pod); result != nil {
		at.Object, at.Revision, at.Message = result.Object, result.RestoredRevision, result.Message // which is a warning
		at.SavedAt = savedAt(*result)
	}
	at.FormerVoters = votersOf(s.Membership)
	noteRecovered(s)
	noteFormer(s)
	s.QuorumLoss, s.Decided = nil, nil
	s.ClusterID, s.Lineage = clusterID(f.view.ClusterID), at.UID
	s.Membership = []etcdv1beta2.MemberIdentity{{ID: fmt.Sprintf("%016x", seed.id), Name: seed.name}}
	s.Size, s.CurrentVersion, s.TargetVersion = 1, f.view.Status[seed.id].Version, ""
	// What etcdutl writes can be read by all; what the members have written since began with this version.
	s.FormedWith, s.SnapshotFrom = s.CurrentVersion, 0
}

// savedAt is when the backup was saved that was restored, nil if no one knows.
func savedAt(result backup.Result) *metav1.Time {
	if result.SavedAt.IsZero() {
		return nil
	}
	return &metav1.Time{Time: result.SavedAt.Truncate(time.Second)}
}

// whyNotRestored says what keeps the seed from serving; without a reason it only takes its time.
func (f facts) whyNotRestored(c *etcdv1beta2.EtcdCluster, seed member, done kit.Outcome) (reason, message string) {
	if f.isHeld(c) {
		return f.whoHolds(c)
	}
	taken, isTaken := done.First(ensure.Taken)
	switch order := restoreOrder(c, *f.origin(c), seed).Check(); {
	case order != nil:
		return etcdv1beta2.ReasonInvalidSpec, order.Error()
	case f.needs != nil:
		return f.needs.reason, f.needs.message
	case f.tls != nil:
		return f.tls.reason, f.tls.message
	case isTaken:
		return common.ReasonNameTaken, taken.Message
	case done.Err != nil && ensure.Refused(done.Err):
		return common.ReasonRefused, done.Err.Error()
	case seed.pod == nil:
		return "", "the pod of member " + seed.name + " is being made"
	}
	return f.whySeedWaits(c, seed)
}

// whoHolds says what the user has to take back for a restore to go on.
func (f facts) whoHolds(c *etcdv1beta2.EtcdCluster) (reason, message string) {
	words := "it waits for " + f.holder(c) + " to be taken back"
	if f.paused {
		return common.ReasonPaused, words
	}
	return etcdv1beta2.ReasonHibernating, words + ": until then the cluster does not go over"
}

// whySeedWaits says how far a seed is that has a pod.
func (f facts) whySeedWaits(c *etcdv1beta2.EtcdCluster, seed member) (reason, message string) {
	result := restoreResult(seed.pod)
	if result != nil && result.Outcome != backup.Succeeded {
		return string(result.Reason), result.Message
	}
	if result != nil && older(wanted(c), minorOf(result.EtcdVersion)+".0") { // 3.6 refuses what 3.7 has written
		return etcdv1beta2.ReasonImpossibleVersion, fmt.Sprintf("%s is of etcd %s, and version %s may not read it: set version to %s or a newer one", cmp.Or(result.Object, what(c)), result.EtcdVersion, wanted(c), result.EtcdVersion)
	}
	if still := f.cutOff(c); still != "" && f.seedServes(c) {
		return "", "the restored member serves, and waits for proof that those it replaces do not: they may decide where nobody hears of it; " + still
	}
	if why, stuck := workload.WhyNotReady(seed.pod); stuck {
		return etcdv1beta2.ReasonMemberNotReady, "member " + seed.name + ": " + why
	}
	if result == nil {
		return "", "member " + seed.name + " reads " + what(c)
	}
	return "", "member " + seed.name + " starts with " + cmp.Or(result.Object, what(c))
}

// what is what a seed begins with, in words.
func what(c *etcdv1beta2.EtcdCluster) string {
	if plan := c.Status.Restore.Recovery; plan != nil && plan.Member != "" {
		return "the data of member " + plan.Member
	}
	return "the backup"
}
