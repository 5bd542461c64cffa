// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// reportQuorumLoss notes, when the members cannot decide any more, how far they had got, and how they would
// come back.
func (f facts) reportQuorumLoss(c *etcdv1beta2.EtcdCluster, d decision) {
	s := &c.Status
	switch {
	case f.view.Err == nil || s.ClusterID == "" || asleep(c) || f.mistaken(d):
		s.QuorumLoss = nil
		return
	case !hopeless(d) && s.QuorumLoss == nil && f.awaited(c, d) == "":
		return // they may only be starting again
	case s.QuorumLoss == nil:
		s.QuorumLoss = &etcdv1beta2.QuorumLoss{}
	}
	loss := s.QuorumLoss
	if at := cmp.Or(f.decided(s), s.Decided); loss.LastQuorum == nil && at != nil {
		loss.LastQuorum, loss.LastIndex = &at.Time, at.Index
	}
	loss.Digest, loss.Plan = "", "No plan is needed: enough members can still come back"+f.awaited(c, d)
	if plan := f.recovery(c, d); plan != nil {
		loss.Digest, loss.Plan = plan.Digest, f.inWords(c, plan)
	}
}

// decided is how far the cluster was when this process last saw it have a quorum; nil if it has not, or looks at a seed.
func (f facts) decided(s *etcdv1beta2.EtcdClusterStatus) *etcdv1beta2.Decided {
	if f.view.Decided.At.IsZero() || clusterID(f.view.ClusterID) != s.ClusterID {
		return nil
	}
	return &etcdv1beta2.Decided{Time: metav1.Time{Time: f.view.Decided.At.Truncate(time.Second)}, Index: int64(f.view.Decided.Index)}
}

// noteDecided has anyone who comes after this process know how far the cluster was. It moves all the while, and costs no
// write of its own: it is noted where something else has changed. What conditions say may change with every report.
func (f facts) noteDecided(before, s *etcdv1beta2.EtcdClusterStatus) {
	was, is := *before, *s
	was.Conditions, is.Conditions = nil, nil
	if at := f.decided(s); at != nil && !equality.Semantic.DeepEqual(was, is) {
		s.Decided = at
	}
}

// awaited reports the members that are waited for though their nodes are given up, and what brings them back.
func (f facts) awaited(c *etcdv1beta2.EtcdCluster, d decision) string {
	var out strings.Builder
	for _, m := range d.members {
		switch why := f.nodeGivenUp(m, healing(c)); {
		case m.lost != "" || m.answers:
		case why != "":
			out.WriteString("; " + m.name + ": " + cmp.Or(f.mayRun(m), why+", and its pod stays until Kubernetes has ended it"))
		case f.homeless(m.name):
			fmt.Fprintf(&out, "; %s: node %s, which has its volume, is gone or out of service: it is given up when its pod could not be placed for %s, or when its claim is deleted",
				m.name, strings.Join(f.homes[m.name], ", "), healing(c))
		}
	}
	return out.String()
}

// inWords tells a plan to someone who has to decide.
func (f facts) inWords(c *etcdv1beta2.EtcdCluster, plan *recovery) string {
	if plan.waits != "" {
		return "It waits for " + plan.waits
	}
	what := fmt.Sprintf("go on from EtcdBackup %s, object %s, saved at %s", plan.Backup, plan.Object, when(plan.SavedAt))
	if plan.Member != "" {
		what = fmt.Sprintf("go on from member %s, which has entry %d of the log", plan.Member, plan.Index)
	}
	if bound := mayBeLost(c.Status.QuorumLoss, plan.QuorumRecovery); bound != "" {
		what += " (" + bound + ")"
	}
	held := f.held(c)
	switch wants := wantsRecovery(c, plan.Digest); {
	case wants && held == "":
		return "It is about to " + what
	case wants:
		return fmt.Sprintf("It is to %s, and %s holds that up", what, held)
	case held != "":
		held = "; " + held + " holds that up"
	}
	return fmt.Sprintf("To %s, annotate it with %s=%s%s", what, etcdv1beta2.RecoverAnnotation, plan.Digest, held)
}

// planOf is the plan behind what is said of a lost quorum.
func planOf(c *etcdv1beta2.EtcdCluster) string {
	if c.Status.QuorumLoss == nil {
		return ""
	}
	return ". " + c.Status.QuorumLoss.Plan + misnamed(c)
}

// misnamed reports an annotation that asks for a plan that there is not, or not any more.
func misnamed(c *etcdv1beta2.EtcdCluster) string {
	asked := c.Annotations[etcdv1beta2.RecoverAnnotation]
	if asked == "" || isDeclined(c) || asked == c.Status.QuorumLoss.Digest {
		return ""
	}
	return fmt.Sprintf("; annotation %s=%.64s is of no plan that stands now", etcdv1beta2.RecoverAnnotation, asked)
}

// mayBeLost bounds what is gone. Whatever was acknowledged before the last look that showed a quorum stands in
// the log up to the entry that its leader told then; and one write is one entry at most.
func mayBeLost(loss *etcdv1beta2.QuorumLoss, plan etcdv1beta2.QuorumRecovery) string {
	switch {
	case plan.Member == "":
		return fmt.Sprintf("all that was written after %s is lost", when(plan.SavedAt))
	case loss == nil || loss.LastQuorum == nil:
		return "the members were not seen with a quorum by this operator, so it is not known what is lost"
	}
	at := loss.LastQuorum.UTC().Format(time.RFC3339)
	if behind := loss.LastIndex - plan.Index; behind > 0 {
		return fmt.Sprintf("up to %d entries from before %s may be lost, and what was written since", behind, at)
	}
	return fmt.Sprintf("no write that was acknowledged before %s is lost", at)
}

// when is a time in words.
func when(at *metav1.Time) string {
	if at == nil {
		return "a time that is not known"
	}
	return at.UTC().Format(time.RFC3339)
}

// noteRecovered bounds, for good, what a recovery has lost.
func noteRecovered(s *etcdv1beta2.EtcdClusterStatus) {
	at := s.Restore
	if at.Recovery == nil {
		return
	}
	at.Recovery.MayBeLost = mayBeLost(s.QuorumLoss, *at.Recovery)
	at.Reason = etcdv1beta2.ReasonRecovered
	at.Message = fmt.Sprintf("The quorum was lost for good; the cluster goes on from %s, at revision %d: %s",
		cmp.Or(at.Recovery.Member, at.Recovery.Object), at.Revision, at.Recovery.MayBeLost)
}

// backupsIn is when the backups of a cluster that waits for one are read again.
func (f facts) backupsIn(c *etcdv1beta2.EtcdCluster, d decision) time.Duration {
	if plan := f.recovery(c, d); plan == nil || plan.waits == "" || alive(d) > 0 {
		return 0
	}
	return secretSoon
}

// former is the EtcdRestore that was carried out last. It may not have been told so yet, and to carry it out again
// would undo all since.
func former(last *etcdv1beta2.RestoreProgress) string {
	switch {
	case last == nil || last.Recovery == nil && last.Phase != etcdv1beta2.PhaseRestored:
		return ""
	case last.Recovery != nil:
		return last.Recovery.Former
	}
	return last.UID
}
