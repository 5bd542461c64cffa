// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// A cluster whose quorum is lost for good comes back by a second lineage, as a restore does (restore.go): its
// seed begins with what the best of the members that are left holds, or else with the newest backup that was
// seen to be restorable. The members that are left stay untouched until the seed serves; and as the new
// cluster has another id, none of the old ones, should it come back, is ever a member of it.
//
// etcd's own way, --force-new-cluster on the directory of one that is left, would leave no way back, and an
// etcd that is started with it twice throws out the members that were added in between.

// recovery is how such a cluster would come back.
type recovery struct {
	etcdv1beta2.QuorumRecovery
	// waits is what it waits for; empty: it can be carried out.
	waits string
}

// recovery plans it; nil if there is nothing to recover from.
func (f facts) recovery(c *etcdv1beta2.EtcdCluster, d decision) *recovery {
	if c.Status.ClusterID == "" || asleep(c) || restoring(c) || f.view.Err == nil || !hopeless(d) {
		return nil
	}
	out := &recovery{}
	if out.waits = f.unproven(d); out.waits != "" {
		return out
	}
	for _, m := range d.members {
		if m.lost != "" {
			out.Lost = append(out.Lost, m.name)
		}
	}
	if alive(d) > 0 {
		f.fromMember(c, d, out)
	} else {
		f.fromBackup(c, out)
	}
	if out.waits == "" {
		out.Digest = digest(c, out.QuorumRecovery)
	}
	return out
}

// unproven says what keeps the loss from being proven: somewhere the members that are lost may still run, and
// decide. It is empty if so many cannot that the others can never be outvoted by them.
func (f facts) unproven(d decision) string {
	gone, doubts := 0, []string{}
	for _, m := range d.members {
		switch doubt := f.mayRun(m); {
		case !m.voter() || m.lost == "":
		case doubt == "":
			gone++
		default:
			doubts = append(doubts, m.name+": "+doubt)
		}
	}
	if int(d.voters())-gone < int(d.voters())/2+1 {
		return ""
	}
	return "proof that a majority is gone; " + strings.Join(doubts, "; ")
}

// mayRun says why a member that is lost may still run and vote; empty: it cannot. A pod that is gone was
// ended by its kubelet, or by someone who vouches for that (Kubernetes: force deletion).
func (f facts) mayRun(m member) string {
	switch {
	case m.answers:
		return "it answers"
	case m.pod == nil, ended(m.pod):
		return ""
	}
	n, ok := f.nodes[m.pod.Spec.NodeName]
	switch {
	case m.pod.Spec.NodeName == "", !ok && f.nodesKnown, n.outOfService:
		return ""
	case !n.silentSince.IsZero(): // what it said last of the gate may be over, too
		return fmt.Sprintf("its node %s is silent, and may still run it: when the machine is off, taint the node node.kubernetes.io/out-of-service=:NoExecute, or delete it", m.pod.Spec.NodeName)
	case refused(m.pod) != nil:
		return ""
	}
	return "its pod is still there, on node " + m.pod.Spec.NodeName
}

// fromMember takes the one that has got furthest among those that are left. All of them have to answer: the one
// that does not may be the one.
func (f facts) fromMember(c *etcdv1beta2.EtcdCluster, d decision, out *recovery) {
	for _, m := range d.members {
		if !m.voter() || m.lost != "" {
			continue
		}
		status := f.view.Status[m.id]
		switch {
		case !m.answers:
			out.waits = "member " + m.name + ", which still has its data, to answer" + f.whyNot(m)
			return
		case slices.Contains(status.Alarms(), etcd.Alarm{Member: m.id, Kind: etcd.AlarmCorrupt}):
		case out.Member == "" || int64(status.Applied) > out.Index:
			out.Member, out.Index = m.name, int64(status.Applied)
		}
	}
	if out.Member == "" {
		out.waits = "somebody to restore a backup: etcd says that what is left is corrupt"
	} else if why := f.unreadable(c, out.Member); why != "" {
		out.waits = "member " + out.Member + ", which has got furthest, to be where it can be read: " + why
	}
}

// digest names a plan. That of another loss, or of what has changed since, is another one.
func digest(c *etcdv1beta2.EtcdCluster, plan etcdv1beta2.QuorumRecovery) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %s %s %s", c.UID, c.Status.ClusterID, plan.Lost, plan.Member, plan.Backup, plan.Object))
	return hex.EncodeToString(sum[:])[:12]
}

// takesRecovery reports whether a plan is to be carried out: it stands in the status, someone wants it, and nothing
// of an earlier restore is left.
func (f facts) takesRecovery(c *etcdv1beta2.EtcdCluster) *recovery {
	if c.Status.QuorumLoss == nil || c.Status.QuorumLoss.Digest == "" || f.held(c) != "" {
		return nil
	}
	plan := f.recovery(c, f.decide(c))
	if plan == nil || plan.waits != "" || plan.Digest != c.Status.QuorumLoss.Digest || !wantsRecovery(c, plan.Digest) || f.view.Stale || f.now.Sub(f.view.At) > maxAge {
		return nil
	}
	return plan
}

// held names what keeps a plan from being taken up that is wanted; empty: nothing does.
func (f facts) held(c *etcdv1beta2.EtcdCluster) string {
	if by := f.holder(c); by != "" || !f.leftovers(c) {
		return by
	}
	return "what an earlier restore has left (" + f.others.names() + ")"
}

// names are those of all of them, in order.
func (o others) names() string {
	var out []string
	for _, pod := range o.pods {
		out = append(out, "pod "+pod.Name)
	}
	for _, claim := range o.claims {
		out = append(out, "claim "+claim.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func wantsRecovery(c *etcdv1beta2.EtcdCluster, digest string) bool {
	if isDeclined(c) {
		return false
	}
	automatic := c.Spec.Recovery != nil && c.Spec.Recovery.QuorumLoss == etcdv1beta2.RecoveryAutomatic
	return automatic || c.Annotations[etcdv1beta2.RecoverAnnotation] == digest
}

// isDeclined reports whether someone wants none of it, not even one that goes on.
func isDeclined(c *etcdv1beta2.EtcdCluster) bool {
	return c.Annotations[etcdv1beta2.RecoverAnnotation] == etcdv1beta2.RecoverNo
}

// isStillLost tells, while a recovery goes on, whether a majority is still proven to be gone. The members are
// those that etcd named last: it is the seed that is looked at.
func (f facts) isStillLost(c *etcdv1beta2.EtcdCluster) bool {
	d := decision{members: f.members(c)}
	return hopeless(d) && f.unproven(d) == ""
}
