// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lineage decides, around a restore, which pods serve clients and which may be deleted. A restore creates a
// second cluster with other data beside the first one; each is called a lineage. The serial number of a pod or claim
// shows its lineage (model.LineageOf). Package restore decides what the restore itself does.
package lineage

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Input holds what is known about the clusters before and after a restore.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	Nodes   map[string]model.Node
	// Pods are the pods of the current cluster (after a restore: of the restored cluster), sorted by name.
	Pods []*corev1.Pod
	// Members are the members of the current cluster.
	Members []model.Member
	// Fresh is true if the list of members is up to date.
	Fresh bool
	// Others are the pods and claims from before a restore, or of an unfinished restore.
	Others Others
}

// FormerServes reports whether a pod from before a restore may still have clients. If so, the restored members get no
// clients yet, because writes would be split between two clusters. A deleted pod may have clients until its grace
// period ends, and longer if the pods from before the restore may still have a quorum.
func (in *Input) FormerServes() bool {
	for _, pod := range in.Others.Pods {
		if pod.Labels[model.VoterLabel] == model.IsVoter && !in.graceIsOver(pod) && !model.Ended(pod) {
			return true
		}
	}
	return in.FormerDecide() != ""
}

// graceIsOver reports whether the grace period of a deleted pod has ended. The kubelet has then killed the pod, unless
// the node is cut off, so that the kubelet does not know of the deletion.
func (in *Input) graceIsOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && !in.Now.Before(pod.DeletionTimestamp.Time)
}

// FormerDecide names the pods from before a restore that may still run, if these are enough for a quorum. It returns ""
// if they are too few to accept writes.
func (in *Input) FormerDecide() string {
	if in.Cluster.Status.Restore == nil {
		return ""
	}
	return in.mayDecide(in.Cluster.Status.Restore.FormerVoters, in.Others.Pods, func(pod *corev1.Pod) bool {
		return model.LineageOf(in.Cluster, pod.Name) == model.Former && in.graceIsOver(pod)
	})
}

// CutOff names the pods that a restore is about to replace and whose nodes do not report, if these pods are enough for
// a quorum. Such pods may still serve clients, but opcrew cannot see whether they do.
func (in *Input) CutOff() string {
	return in.mayDecide(model.CountVoters(in.Cluster.Status.Membership), in.Pods, func(pod *corev1.Pod) bool {
		return !in.Nodes[pod.Spec.NodeName].SilentSince.IsZero()
	})
}

// mayDecide explains for each of the selected pods why it may still run, if these pods are a majority of the voters. A
// majority may accept writes, which the restore would lose. mayDecide returns "" if they are too few.
func (in *Input) mayDecide(voters int32, pods []*corev1.Pod, some func(*corev1.Pod) bool) string {
	var doubts []string
	for _, pod := range pods {
		m := model.Member{Pod: pod, Node: model.NodeOfPod(in.Nodes, pod)}
		if doubt := m.MayRun(); doubt != "" && some(pod) {
			doubts = append(doubts, pod.Name+": "+doubt)
		}
	}
	if voters == 0 || int32(len(doubts)) < voters/2+1 {
		return ""
	}
	return strings.Join(doubts, "; ")
}

// SwitchesOver reports whether the restored members exist, but the client Service does not select their pods yet.
// answers is true if etcd lists the members.
func (in *Input) SwitchesOver(answers bool) bool {
	if in.FormerServes() {
		return true
	}
	if in.Cluster.Status.Lineage == "" || !answers {
		return false
	}
	for _, m := range in.Members {
		if m.Shown() {
			return false
		}
	}
	return true
}

// MayShow reports whether the client Service may select the pod of a member.
func (in *Input) MayShow(m model.Member) bool { return m.Voter() && !in.FormerServes() }

// Leftovers reports whether pods or claims of an earlier restore still exist, which must be deleted before another
// restore starts.
func (in *Input) Leftovers() bool {
	return in.Others.live() || in.Others.seeds(in.Cluster) || in.FormerServes()
}
