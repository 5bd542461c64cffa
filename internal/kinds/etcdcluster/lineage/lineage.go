// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lineage answers, around a restore, which of two clusters serves clients and what is left of the other. A
// restore makes a second cluster with other data beside the first, that is, another lineage. A pod's or claim's serial
// shows its lineage (model.LineageOf). Package restore decides what a restore does.
package lineage

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Input holds what is known about both lineages.
type Input struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	Nodes   map[string]model.Node
	// Pods are the pods of the cluster's own lineage, by name.
	Pods []*corev1.Pod
	// Members are the members of the cluster.
	Members []model.Member
	// Fresh is true if the cluster has just listed its members.
	Fresh bool
	// Others are the pods and claims of other lineages.
	Others Others
}

// FormerServes reports whether a pod from before a restore may still have clients. If so, no member of this lineage
// gets clients, as writes would be split. A deleted pod counts until its grace period is over, or longer with a quorum.
func (in *Input) FormerServes() bool {
	for _, pod := range in.Others.Pods {
		if pod.Labels[model.VoterLabel] == model.IsVoter && !in.graceIsOver(pod) && !model.Ended(pod) {
			return true
		}
	}
	return in.FormerDecide() != ""
}

// graceIsOver reports whether a deleted pod's grace period is over. By then its kubelet has ended it, unless the
// kubelet has not learnt of the deletion.
func (in *Input) graceIsOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && !in.Now.Before(pod.DeletionTimestamp.Time)
}

// FormerDecide names the pods from before a restore that are not known to have ended, if they may still be a quorum.
// Empty if they are too few.
func (in *Input) FormerDecide() string {
	if in.Cluster.Status.Restore == nil {
		return ""
	}
	return in.mayDecide(in.Cluster.Status.Restore.FormerVoters, in.Others.Pods, func(pod *corev1.Pod) bool {
		return model.LineageOf(in.Cluster, pod.Name) == model.Former && in.graceIsOver(pod)
	})
}

// CutOff names the pods on silent nodes that a restore is about to replace, if they may still be a quorum. They may
// serve clients that opcrew does not see.
func (in *Input) CutOff() string {
	return in.mayDecide(model.CountVoters(in.Cluster.Status.Membership), in.Pods, func(pod *corev1.Pod) bool {
		return !in.Nodes[pod.Spec.NodeName].SilentSince.IsZero()
	})
}

// mayDecide reports why some pods may still run, and what would prove that they do not, if they are a majority of the
// voters. Writes that such members acknowledge would be lost.
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

// SwitchesOver reports whether a restored member is ready, but does not get clients yet. answers is true if the members
// can be listed.
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

// MayShow reports whether the Service may send clients to a member.
func (in *Input) MayShow(m model.Member) bool { return m.Voter() && !in.FormerServes() }

// Leftovers reports whether pods or claims of an earlier restore must be deleted before another lineage begins.
func (in *Input) Leftovers() bool {
	return in.Others.live() || in.Others.seeds(in.Cluster) || in.FormerServes()
}
