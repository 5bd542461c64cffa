// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/workload"
)

// lost says why a member is done without, or nothing while it may come back as what it was.
//
// Before the cluster was formed nothing is lost: no one has written to it yet, and members
// may begin again. A member that has never run has nothing to lose but its place.
//
// While a quorum decides it has all that was ever acknowledged, so that members are given up with their nodes.
// Without one, what this member has may be nowhere else: then it is lost only with its data.
func (f facts) lost(c *etcdv1beta2.EtcdCluster, m member) string {
	if c.Status.ClusterID == "" {
		return ""
	}
	if why := f.nodeGivenUp(m, healing(c)); why != "" && f.decides(c) {
		return why
	}
	return f.dataLost(c, m)
}

// decides reports whether the cluster itself, by a quorum, has just said who its members are.
func (f facts) decides(c *etcdv1beta2.EtcdCluster) bool {
	return f.view.Err == nil && !f.view.At.IsZero() && !restoring(c) // then it is the seed that is looked at
}

func (f facts) dataLost(c *etcdv1beta2.EtcdCluster, m member) string {
	if m.pod != nil && m.pod.DeletionTimestamp == nil && !m.answers {
		if why := refusal(m.pod); why != "" {
			return why
		}
	}
	if !m.started {
		return ""
	}
	if !persistent(c) {
		return lostWithPod(m.pod)
	}
	if why := lostClaim(m.claim); why != "" {
		return why
	}
	return f.stranded(c, m)
}

// lostWithPod reports an emptyDir that went with its pod. A pod that is still going may
// have its etcd running for a while, which makes no difference: it is not coming back.
func lostWithPod(pod *corev1.Pod) string {
	switch {
	case pod == nil:
		return "its pod is gone, and its emptyDir with it"
	case pod.DeletionTimestamp != nil:
		return "its pod is being deleted, and its emptyDir with it"
	case ended(pod):
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

// ended: its containers will not run again, as in a pod that was evicted.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// refusal is what the gate in the pod said when it did not let etcd start on a volume that is
// empty or of another member. Its other refusals may pass.
func refusal(pod *corev1.Pod) string {
	if said := refused(pod); said != nil {
		return said.Error()
	}
	return ""
}

// hasLost reports whether it was for an empty volume: a pod that is recreated may begin on that.
func hasLost(pod *corev1.Pod) bool {
	said := refused(pod)
	return said != nil && said.Reason == etcdstart.VolumeLost
}

// refused is what the gate said last, if it did not let etcd start on a volume as it is.
func refused(pod *corev1.Pod) *etcdstart.Report {
	said := lastReport(pod)
	if said == nil || said.Reason != etcdstart.VolumeLost && said.Reason != etcdstart.VolumeForeign {
		return nil
	}
	return said
}

// lastReport is what the gate said last, as long as it stands: a container that runs has been let in since, or is
// about to be judged again.
func lastReport(pod *corev1.Pod) *etcdstart.Report {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != container || status.State.Running != nil {
			continue
		}
		for _, state := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if state == nil {
				continue
			}
			if said, err := etcdstart.ParseReport(state.Message); err == nil {
				return &said
			}
		}
	}
	return nil
}

// node is what matters of a node to those that run on it.
type node struct {
	// silentSince is since when its kubelet has not been heard of; zero: it is.
	silentSince time.Time
	// outOfService: someone vouches for it that the machine is off.
	outOfService bool
	// zone is the one that it is in, empty if it has none.
	zone string
}

func nodeOf(n *corev1.Node) node {
	out := node{zone: workload.Zone(n)}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			out.silentSince = c.LastTransitionTime.Time
		}
	}
	for _, taint := range n.Spec.Taints {
		out.outOfService = out.outOfService || taint.Key == corev1.TaintNodeOutOfService
	}
	return out
}

// nodeGivenUp says why a member is given up with its node. One that answers is not: it is
// only the kubelet that is silent then. A volume on the node is never used elsewhere: the
// machine may be cut off, and its etcd still run.
func (f facts) nodeGivenUp(m member, after time.Duration) string {
	if m.pod == nil || m.pod.Spec.NodeName == "" || m.healthy {
		return ""
	}
	name := m.pod.Spec.NodeName
	n, ok := f.nodes[name]
	switch {
	case !ok && f.nodesKnown:
		return fmt.Sprintf("its node %s is gone", name)
	case n.outOfService:
		return fmt.Sprintf("its node %s is out of service", name)
	case !n.silentSince.IsZero() && f.now.Sub(n.silentSince) >= after:
		return fmt.Sprintf("its node %s has not been heard of since %s, longer than %s", name, n.silentSince.UTC().Format(time.RFC3339), after)
	}
	return ""
}

// givenUpIn is how long it takes until the next node is given up; 0: none is silent.
func (f facts) givenUpIn(c *etcdv1beta2.EtcdCluster) time.Duration {
	var soonest time.Duration
	for _, pod := range f.pods {
		n, ok := f.nodes[pod.Spec.NodeName]
		if !ok || n.silentSince.IsZero() {
			continue
		}
		if left := healing(c) - f.now.Sub(n.silentSince); left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// healing is for how long a node may be silent.
func healing(c *etcdv1beta2.EtcdCluster) time.Duration {
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
