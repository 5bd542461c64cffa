// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Loss returns what the status reports about a lost quorum: the members' last log entries, and how the cluster can be
// recovered. It returns nil if the quorum is not lost, or if the members may just be restarting.
func Loss(in *Input, plan *Plan) *etcdv1beta2.QuorumLoss {
	status := &in.Cluster.Status
	loss, awaited := status.QuorumLoss, in.awaited()
	if loss == nil && !Hopeless(in.Members) && awaited == "" {
		return nil
	}
	if loss == nil {
		loss = &etcdv1beta2.QuorumLoss{}
	}
	if last := cmp.Or(in.LastDecided(), status.Decided); loss.LastQuorum == nil && last != nil {
		loss.LastQuorum, loss.LastIndex = &last.Time, last.Index
	}
	loss.Digest, loss.Plan = "", "No recovery is needed: enough members can still come back"+awaited
	if plan != nil {
		loss.Digest, loss.Plan = plan.Digest, in.describe(plan, loss)
	}
	return loss
}

// LastDecided returns the log position at which this process last saw the cluster with a quorum. It returns nil if this
// process never saw a quorum, or if the view is of a restored member.
func (in *Input) LastDecided() *etcdv1beta2.Decided {
	last := in.View.Decided
	if last.At.IsZero() || model.FormatID(in.View.ClusterID) != in.Cluster.Status.ClusterID {
		return nil
	}
	return &etcdv1beta2.Decided{Time: metav1.Time{Time: last.At.Truncate(time.Second)}, Index: int64(last.Index)}
}

// awaited names the members that opcrew still waits for although their nodes count as lost, and says what would make
// them come back.
func (in *Input) awaited() string {
	var out strings.Builder
	judge := model.NewJudge(in.Cluster, in.Now, false)
	for _, m := range in.Members {
		switch why := judge.NodeGivenUp(m); {
		case m.Lost != "" || m.Answers:
		case why != "":
			out.WriteString("; " + m.Name + ": " + cmp.Or(m.MayRun(), why+"; the member can restart once Kubernetes has deleted its pod"))
		case m.Disk.Gone:
			fmt.Fprintf(&out, "; %s: node %s, which has its volume, is gone or out of service; opcrew replaces the member once its pod has been unschedulable for %s, or its claim is deleted",
				m.Name, strings.Join(m.Disk.Nodes, ", "), model.NodeLossAfter(in.Cluster))
		}
	}
	return out.String()
}

// describe explains a plan to the user who has to approve it.
func (in *Input) describe(plan *Plan, loss *etcdv1beta2.QuorumLoss) string {
	if plan.Waits != "" {
		return "The recovery waits for " + plan.Waits
	}
	what := fmt.Sprintf("recover from EtcdBackup %s, object %s, saved at %s", plan.Backup, plan.Object, format(plan.SavedAt))
	if plan.Member != "" {
		what = fmt.Sprintf("recover from member %s, which has the log up to entry %d", plan.Member, plan.Index)
	}
	if bound := MayBeLost(loss, plan.QuorumRecovery); bound != "" {
		what += " (" + bound + ")"
	}
	held := in.HeldBy
	switch wanted := isWanted(in.Cluster, plan.Digest); {
	case wanted && held == "":
		return "opcrew is about to " + what
	case wanted:
		return fmt.Sprintf("opcrew will %s, but is blocked by %s", what, held)
	case held != "":
		held = "; the recovery is also blocked by " + held
	}
	return fmt.Sprintf("To %s, annotate the EtcdCluster with %s=%s%s", what, etcdv1beta2.RecoverAnnotation, plan.Digest, held)
}

// PlanOf returns the plan as a clause to append to a message about a lost quorum.
func PlanOf(c *etcdv1beta2.EtcdCluster) string {
	if c.Status.QuorumLoss == nil {
		return ""
	}
	return ". " + c.Status.QuorumLoss.Plan + misnamed(c)
}

// misnamed returns a clause if the user's annotation approves another plan than the current plan; empty otherwise.
func misnamed(c *etcdv1beta2.EtcdCluster) string {
	asked := c.Annotations[etcdv1beta2.RecoverAnnotation]
	if asked == "" || IsDeclined(c) || asked == c.Status.QuorumLoss.Digest {
		return ""
	}
	return fmt.Sprintf("; annotation %s=%.64s does not match the current plan", etcdv1beta2.RecoverAnnotation, asked)
}

// MayBeLost describes the largest possible loss of data. Every write acknowledged before the last view with a quorum is
// in the log, at or below the index that the leader reported then. Each write is at most one log entry.
func MayBeLost(loss *etcdv1beta2.QuorumLoss, plan etcdv1beta2.QuorumRecovery) string {
	switch {
	case plan.Member == "":
		return fmt.Sprintf("all writes after %s are lost", format(plan.SavedAt))
	case loss == nil || loss.LastQuorum == nil:
		return "opcrew has not seen the members with a quorum, so it is unknown which writes are lost"
	}
	at := loss.LastQuorum.UTC().Format(time.RFC3339)
	if behind := loss.LastIndex - plan.Index; behind > 0 {
		return fmt.Sprintf("up to %d log entries from before %s may be lost, and all later writes", behind, at)
	}
	return fmt.Sprintf("no write that was acknowledged before %s is lost", at)
}

func format(at *metav1.Time) string {
	if at == nil {
		return "an unknown time"
	}
	return at.UTC().Format(time.RFC3339)
}
