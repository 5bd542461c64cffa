// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model has what the rules of an EtcdCluster decide on: its members, each with what etcd, its pod, its claim
// and its node report, and the names and annotations by which these are found.
//
// What to do about it is decided in the packages for each subject. Nothing here reads or writes.
package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// Member is a present or future member of the cluster, with all facts that are known about it.
type Member struct {
	Name string
	// Client is the address at which the operator and clients reach the member.
	Client string
	Serial int64
	ID     uint64
	// Seed: it starts from a backup, and is no member until the cluster switches to it.
	Seed    bool
	Learner bool
	// Started: etcd lists its name, so it has run at least once.
	Started bool
	Pod     *corev1.Pod
	// Patched: the cache does not show the last patch of the pod by opcrew yet.
	Patched bool
	// Differs: the pod was created with other settings than the spec's, apart from the version. Outdated: the pod must be
	// recreated for that. Superseded: another member replaces this one, as its pod cannot be recreated without its data, or
	// its claim does not match the spec.
	Differs, Outdated, Superseded bool
	// ResizeDue: the pod differs from the spec in resources alone, and they can be changed while it runs.
	// ResizeNoted: new resources are recorded on the pod, and its spec does not have them yet.
	ResizeDue, ResizeNoted bool
	Claim                  *corev1.PersistentVolumeClaim
	// ClaimDiffers names the field in which the claim differs from the spec; "" if none does.
	ClaimDiffers string
	// Node is the node of the pod; nil if the pod has none, or the node is gone. Disk is where the volume is.
	Node *Node
	Disk Disk
	// Asked: the last view has a status of the member, or an error. Answers: the view has a status. Healthy: the member also
	// follows a leader. Version is the version of etcd that it runs.
	Asked, Answers, Healthy bool
	Status                  etcd.MemberStatus
	Version                 string
	// Runs is the version that it runs or, while it does not answer, the lowest that any member ran last.
	Runs string
	// Defragmenting: its data is being defragmented, and it does not answer.
	Defragmenting bool
	// Unbound is why its claim has no volume.
	Unbound string
	// Lost is why the member can never come back with its identity and data; empty while it may.
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

// IsEstablished reports whether the pod may not start on an empty volume.
func (m Member) IsEstablished() bool { return m.Start() == StartAs(etcdstart.Established, m.ID) }

// Shown reports whether the Service for clients selects its pod.
func (m Member) Shown() bool { return m.Pod != nil && m.Pod.Labels[VoterLabel] == IsVoter }

// Start is how the pod may start, by its annotation.
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
