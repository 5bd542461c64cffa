// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model has the data that the rules of an EtcdCluster decide on: its members, with what etcd, the pod, the
// claim and the node report, and the names and annotations by which these are found. It reads and writes nothing. The
// packages for each subject decide.
package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// Member is a current or future member of the cluster, with all that is known about it.
type Member struct {
	Name string
	// Client is the address at which the operator and clients reach the member.
	Client string
	Serial int64
	ID     uint64
	// Seed is true if it starts from a backup. It becomes a member when the cluster switches to it.
	Seed    bool
	Learner bool
	// Started is true if etcd lists its name, so that it has run at least once.
	Started bool
	Pod     *corev1.Pod
	// Patched is true if opcrew's last patch of the pod is not in the cache yet.
	Patched bool
	// Differs is true if the pod's settings differ from the spec, apart from the version. Outdated is true if the pod
	// must be recreated for that. Superseded is true if another member must replace it, as the pod would lose its data
	// or the claim does not match.
	Differs, Outdated, Superseded bool
	// ResizeDue is true if the pod differs from the spec in resources alone, and they can be changed while it runs.
	// ResizeNoted is true if new resources are recorded on the pod, but not yet in its spec.
	ResizeDue, ResizeNoted bool
	Claim                  *corev1.PersistentVolumeClaim
	// ClaimDiffers names the field in which the claim differs from the spec; "" if none does.
	ClaimDiffers string
	// Node is the node of the pod; nil if the pod has none, or the node is gone. Disk describes where the volume is.
	Node *Node
	Disk Disk
	// Asked is true if the last view has a status of the member, or an error; Answers, if the view has a status;
	// Healthy, if the member also follows a leader. Version is the version of etcd that it runs.
	Asked, Answers, Healthy bool
	Status                  etcd.MemberStatus
	Version                 string
	// Runs is the version that it runs. While it does not answer, Runs is the lowest version that any member last ran.
	Runs string
	// Defragmenting is true while its data is being defragmented, so that it does not answer.
	Defragmenting bool
	// Unbound explains why its claim has no volume.
	Unbound string
	// Lost explains why the member can never come back with its identity and data; empty while it may.
	Lost string
}

// Voter reports whether the member votes.
func (m Member) Voter() bool { return !m.Learner }

// Well reports whether the member is healthy and can no longer begin on an empty volume.
func (m Member) Well() bool {
	return m.Healthy && m.Pod != nil && !m.Patched && m.IsEstablished()
}

// Ready reports whether the member is Well and its pod is ready.
func (m Member) Ready() bool { return m.Well() && workload.Ready(m.Pod) }

// IsEstablished reports whether its pod has lost the permission to start on an empty volume.
func (m Member) IsEstablished() bool { return m.Start() == StartAs(etcdstart.Established, m.ID) }

// Shown reports whether the Service for clients selects its pod.
func (m Member) Shown() bool { return m.Pod != nil && m.Pod.Labels[VoterLabel] == IsVoter }

// Start returns the start annotation of the pod, which says how it may start; "" without a pod.
func (m Member) Start() string {
	if m.Pod == nil {
		return ""
	}
	return m.Pod.Annotations[StartAnnotation]
}

// Voters counts the members that vote.
func Voters(members []Member) int32 {
	var n int32
	for _, m := range members {
		if m.Voter() {
			n++
		}
	}
	return n
}
