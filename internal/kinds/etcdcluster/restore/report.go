// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/recovery"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/workload"
)

// SwitchingOver returns the message to show after the switch to the restored member, until the client Service selects
// its pod.
func (in *Input) SwitchingOver() string {
	const what = "The cluster is switching to the restored member: clients are sent to this member once no pod from before the restore serves clients"
	if still := in.Lineage.FormerDecide(); still != "" {
		return what + ", but these pods may still serve clients: " + still
	}
	return what
}

// Begin records a restore, or the plan of a recovery, in the status before opcrew creates anything for it. serial is
// the serial number of the restored member; no other member may ever get it.
func (in *Input) Begin(serial int64, plan *recovery.Plan) {
	s := &in.Cluster.Status
	at := &etcdv1beta2.RestoreProgress{Phase: etcdv1beta2.PhaseRestoring, Serial: serial, Since: s.Restore.Began(), Above: in.seenRevision(s.Restore)}
	if in.Begins() {
		at.UID = string(in.Restore.UID)
	} else {
		taken := plan.QuorumRecovery
		taken.Former, taken.Unusable = recovery.Former(s.Restore), recovery.Unusable(s.Restore)
		// The serial in the UID distinguishes a retry from an earlier recovery with the same plan.
		at.UID, at.Recovery = fmt.Sprintf("%s-%d", taken.Digest, serial), &taken
	}
	s.Restore, s.Serial = at, max(s.Serial, serial)
}

// seenRevision returns the highest revision that members or an earlier restore have reported. A restored cluster
// continues far above this revision, because clients must never see a revision go back.
func (in *Input) seenRevision(last *etcdv1beta2.RestoreProgress) int64 {
	var seen int64
	if last != nil {
		seen = max(last.Above, last.Revision)
	}
	for _, status := range in.View.Status {
		seen = max(seen, status.Revision)
	}
	return seen
}

// Report sets the status during a restore, and switches the cluster to the restored member once it is ready.
func (in *Input) Report(set condition.Set, done kit.Outcome) {
	at, seed := in.Cluster.Status.Restore, in.Seed()
	switch {
	case in.IsCalledOff():
		if plan := at.Recovery; recovery.FoundUnusable(plan, build.RestoreResult(seed.Pod)) {
			plan.Unusable = append(plan.Unusable, plan.Backup+"/"+plan.Object)
		}
		at.Phase, at.Reason, at.Message = etcdv1beta2.PhaseAbandoned, etcdv1beta2.ReasonAbandoned, "The restore was canceled before it was complete; the cluster is unchanged"
		set.False(etcdv1beta2.EtcdClusterReady, common.ReasonUpdating, "The restore was canceled; the cluster is unchanged")
		return
	case in.SeedIsLive:
		in.cutOver(seed)
		set.False(etcdv1beta2.EtcdClusterAvailable, etcdv1beta2.ReasonRestoring, in.SwitchingOver())
		set.False(etcdv1beta2.EtcdClusterReady, etcdv1beta2.ReasonRestoring, "The restored member serves clients; the cluster is not ready until it has all its members again")
		return
	}
	at.Reason, at.Message = in.whyNotRestored(seed, done)
	in.ReportRestoring(set, at.Message)
}

// ReportRestoring sets Ready to False during a restore. It keeps all other conditions, which describe the old cluster,
// except that it updates Available if the old members' pods are no longer known to serve clients.
func (in *Input) ReportRestoring(set condition.Set, how string) {
	in.reportServing(set)
	reason := etcdv1beta2.ReasonRestoring
	if at := in.Cluster.Status.Restore; at.Reason != "" {
		reason = at.Reason
	}
	name := "The recovery"
	if from := in.Origin(); from != nil {
		name = from.Name
	}
	set.False(etcdv1beta2.EtcdClusterReady, reason, fmt.Sprintf("%s: %s; the cluster is unchanged until the restored member serves clients", name, how))
}

// reportServing sets Available from the readiness of the old members' pods. These pods are ready only with a quorum.
// opcrew has no other information, because during a restore it reads only the restored member.
func (in *Input) reportServing(set condition.Set) {
	const kind = etcdv1beta2.EtcdClusterAvailable
	ready, voters := 0, int(model.CountVoters(in.Cluster.Status.Membership))
	for _, m := range in.Lineage.Members {
		if m.Voter() && m.Pod != nil && workload.Ready(m.Pod) {
			ready++
		}
	}
	last, needs := meta.FindStatusCondition(in.Cluster.Status.Conditions, kind), voters/2+1
	switch {
	case voters == 0 || last == nil:
	case last.Status == metav1.ConditionTrue && ready < needs:
		set.Unknown(kind, etcdv1beta2.ReasonRestoring, fmt.Sprintf("%d of %d pods of voters are ready, %d are needed; opcrew does not query the members during a restore", ready, voters, needs))
	case last.Status == metav1.ConditionUnknown && last.Reason == etcdv1beta2.ReasonRestoring && ready >= needs:
		set.True(kind, etcdv1beta2.ReasonClusterAvailable, fmt.Sprintf("Cluster available: %d of %d pods of voters are ready, %d are needed", ready, voters, needs))
	}
}

// whyNotRestored explains why the restored member is not ready yet. The reason is empty if the restore only needs time.
func (in *Input) whyNotRestored(seed model.Member, done kit.Outcome) (reason, message string) {
	if in.HeldBy != "" {
		return in.heldBack()
	}
	taken, isTaken := done.First(ensure.Taken)
	switch order := build.RestoreOrder(in.Cluster, *in.Origin(), seed).Check(); {
	case order != nil:
		return etcdv1beta2.ReasonInvalidSpec, order.Error()
	case in.Blocked != nil:
		return in.Blocked.Reason, in.Blocked.Message
	case isTaken:
		return common.ReasonNameTaken, taken.Message
	case done.Err != nil && ensure.Refused(done.Err):
		return common.ReasonRefused, done.Err.Error()
	case seed.Pod == nil:
		return "", "the pod of member " + seed.Name + " is being created"
	}
	return in.whySeedWaits(seed)
}

// heldByHibernation is the value of HeldBy if the spec requests hibernation.
const heldByHibernation = "spec.hibernate"

// heldBack says which setting the user must change so that the restore continues.
func (in *Input) heldBack() (reason, message string) {
	words := "the restore waits until " + in.HeldBy + " is removed"
	if in.HeldBy != heldByHibernation {
		return common.ReasonPaused, words
	}
	return etcdv1beta2.ReasonHibernating, words + "; until then the cluster does not switch to the restored member"
}

// whySeedWaits explains why a restored member that already has a pod is not ready yet.
func (in *Input) whySeedWaits(seed model.Member) (reason, message string) {
	result := build.RestoreResult(seed.Pod)
	if result != nil && result.Outcome != backup.Succeeded {
		return string(result.Reason), result.Message
	}
	// An older etcd cannot read the data of a newer one: 3.6 cannot read what 3.7 has written.
	if result != nil && versions.Older(versions.Desired(in.Cluster), versions.MinorOf(result.EtcdVersion)+".0") {
		return etcdv1beta2.ReasonImpossibleVersion, fmt.Sprintf("%s was written by etcd %s, which version %s may not be able to read: set spec.version to %s or later", cmp.Or(result.Object, in.source()), result.EtcdVersion, versions.Desired(in.Cluster), result.EtcdVersion)
	}
	if still := in.Lineage.CutOff(); still != "" && in.SeedServes() {
		return "", "the restored member is ready, but the switch waits for proof that the members that it replaces have ended: they may still accept writes that opcrew cannot see; " + still
	}
	if why, stuck := workload.WhyNotReady(seed.Pod); stuck {
		return etcdv1beta2.ReasonMemberNotReady, "member " + seed.Name + ": " + why
	}
	if result == nil {
		return "", "member " + seed.Name + " reads " + in.source()
	}
	return "", "member " + seed.Name + " starts with " + cmp.Or(result.Object, in.source())
}

// source describes what the restored member starts with, for a message.
func (in *Input) source() string {
	if plan := in.Cluster.Status.Restore.Recovery; plan != nil && plan.Member != "" {
		return "the data of member " + plan.Member
	}
	return "the backup"
}
