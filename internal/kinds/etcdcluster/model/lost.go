// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Judge decides whether a member is lost.
type Judge struct {
	now time.Time
	// nodeLossAfter is how long a node may be silent before its members count as lost.
	nodeLossAfter time.Duration
	// formed is true once the first members have formed the cluster. decides is true if the prober last found that the
	// cluster has a quorum.
	formed, decides bool
	// persistent is true if members have claims.
	persistent bool
}

// NewJudge returns a Judge for the members of a cluster.
func NewJudge(c *etcdv1beta2.EtcdCluster, now time.Time, decides bool) Judge {
	return Judge{now: now, nodeLossAfter: NodeLossAfter(c), formed: c.Status.ClusterID != "", decides: decides, persistent: Persistent(c)}
}

// Lost explains why a member must be replaced; "" if it may come back. If the cluster has a quorum, a member counts as
// lost when its node is lost, because the other members have every acknowledged write. Without a quorum, a member
// counts as lost only when its data is lost, because the data may be the last copy.
func (j Judge) Lost(m Member) string {
	if !j.formed {
		return ""
	}
	if why := j.NodeGivenUp(m); why != "" && j.decides {
		return why
	}
	return j.dataLost(m)
}

func (j Judge) dataLost(m Member) string {
	if m.Pod != nil && m.Pod.DeletionTimestamp == nil && !m.Answers {
		if why := GateRefusal(m.Pod); why != "" {
			return why
		}
	}
	if !m.Started {
		return ""
	}
	if !j.persistent {
		return lostWithPod(m.Pod)
	}
	if why := lostClaim(m.Claim); why != "" {
		return why
	}
	return j.stranded(m)
}

// lostWithPod explains that a member's emptyDir is lost with its pod; empty if it is not lost. A pod that is being
// deleted counts as lost, because etcd may run a little longer but does not come back.
func lostWithPod(pod *corev1.Pod) string {
	switch {
	case pod == nil:
		return "its pod is gone, and its emptyDir with it"
	case pod.DeletionTimestamp != nil:
		return "its pod is being deleted, and its emptyDir with it"
	case Ended(pod):
		return fmt.Sprintf("its pod has ended (%s), and its emptyDir is gone", pod.Status.Reason)
	}
	return ""
}

func lostClaim(claim *corev1.PersistentVolumeClaim) string {
	switch {
	case claim == nil:
		return "its claim is gone, and its data with it"
	case claim.Status.Phase == corev1.ClaimLost:
		return "the volume of its claim is gone"
	}
	return ""
}

// NodeGivenUp explains why a member counts as lost with its node; empty if it does not. If the member answers, only its
// kubelet is silent, and the member is not lost. opcrew never moves the member's volume, because etcd may still run on
// a machine that is cut off.
func (j Judge) NodeGivenUp(m Member) string {
	if m.Pod == nil || m.Pod.Spec.NodeName == "" || m.Healthy {
		return ""
	}
	name := m.Pod.Spec.NodeName
	switch {
	case m.Node == nil:
		return fmt.Sprintf("its node %s is gone", name)
	case m.Node.OutOfService:
		return fmt.Sprintf("its node %s is out of service", name)
	case !m.Node.SilentSince.IsZero() && j.now.Sub(m.Node.SilentSince) >= j.nodeLossAfter:
		return fmt.Sprintf("the kubelet of its node %s has not reported since %s, which is longer than %s", name, m.Node.SilentSince.UTC().Format(time.RFC3339), j.nodeLossAfter)
	}
	return ""
}

// NodeLossAfter returns how long a node may be silent before its members count as lost.
func NodeLossAfter(c *etcdv1beta2.EtcdCluster) time.Duration {
	text := etcdv1beta2.DefaultNodeLossAfter
	if c.Spec.Healing != nil && c.Spec.Healing.NodeLossAfter != "" {
		text = c.Spec.Healing.NodeLossAfter
	}
	after, err := time.ParseDuration(text)
	if err != nil || after <= 0 {
		after, _ = time.ParseDuration(etcdv1beta2.DefaultNodeLossAfter)
	}
	return after
}

// MayRun explains why a lost member may still run and vote; empty if it cannot. If its pod no longer exists, etcd has
// ended: either the kubelet ended the pod, or a user force-deleted the pod and thereby confirmed that it has ended.
func (m Member) MayRun() string {
	switch {
	case m.Answers:
		return "its etcd still responds"
	case m.Pod == nil, Ended(m.Pod):
		return ""
	}
	switch {
	case m.Node == nil, m.Node.OutOfService: // a pod whose node is gone has ended too
		return ""
	// If the node is silent, etcd may have started after the last report of opcrew's agent, so this report (see
	// Refused) does not prove that etcd has stopped.
	case !m.Node.SilentSince.IsZero():
		return fmt.Sprintf("its node %s does not report, and may still run the member: once the machine is off, taint the node with node.kubernetes.io/out-of-service=:NoExecute, or delete the node", m.Pod.Spec.NodeName)
	case Refused(m.Pod) != nil:
		return ""
	}
	return "its pod still exists on node " + m.Pod.Spec.NodeName
}
