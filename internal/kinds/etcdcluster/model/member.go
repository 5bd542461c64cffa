// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model holds the facts on which decisions about an EtcdCluster are based: its members, their names and
// annotations, and what etcd, the pods, the claims and the nodes show about them. It has no access to Kubernetes or
// etcd. The rules that decide what to do are in other packages.
package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// Member is a current or future member of the cluster, with everything that is known about it.
type Member struct {
	Name string
	// Client is the client URL of the member.
	Client string
	Serial int64
	ID     uint64
	// Seed is true for the first member of a restore, which starts from a backup. It becomes a member of the cluster
	// when the cluster switches to the restored data.
	Seed    bool
	Learner bool
	// Started is true if the member has run at least once: etcd then lists its name.
	Started bool
	Pod     *corev1.Pod
	// Patched is true if the cache does not show opcrew's last patch of the pod yet.
	Patched bool
	// Differs is true if the pod's settings differ from the spec, apart from the version. Outdated is true if opcrew
	// must recreate the pod because of this difference. Superseded is true if opcrew must replace the member with a new
	// one, because the claim does not match the spec, or because recreating the pod would lose the data.
	Differs, Outdated, Superseded bool
	// ResizeDue is true if the pod differs from the spec only in resources that can be changed while it runs.
	// ResizeNoted is true if the new resources are recorded on the pod, but not yet in its spec.
	ResizeDue, ResizeNoted bool
	Claim                  *corev1.PersistentVolumeClaim
	// ClaimDiffers explains how the claim differs from the spec; "" if it matches.
	ClaimDiffers string
	// Node is the node of the pod; nil if the pod has none, or the node is gone. Disk shows which nodes the volume is
	// bound to.
	Node *Node
	Disk Disk
	// Asked is true if the prober, when it last read the members, got a status or an error for this member. Answers is
	// true if the member responded. Healthy is true if the member also has a leader. Version is the etcd version that
	// the member reported.
	Asked, Answers, Healthy bool
	Status                  etcd.MemberStatus
	Version                 string
	// Runs is the version that the member runs. If it does not answer, Runs is the lowest version that any member last
	// ran.
	Runs string
	// Defragmenting is true while the member's data is being defragmented. The member does not answer meanwhile.
	Defragmenting bool
	// Unbound explains why the claim has no volume; empty if it has one.
	Unbound string
	// Lost explains why the member must be replaced; empty while it may come back with its ID and data.
	Lost string
}

// Voter reports whether the member has a vote.
func (m Member) Voter() bool { return !m.Learner }

// Well reports whether the member is healthy and its pod may no longer start etcd on an empty volume.
func (m Member) Well() bool {
	return m.Healthy && m.Pod != nil && !m.Patched && m.IsEstablished()
}

// Ready reports whether the member is Well and its pod is ready.
func (m Member) Ready() bool { return m.Well() && workload.Ready(m.Pod) }

// IsEstablished reports whether the pod may no longer start etcd on an empty volume.
func (m Member) IsEstablished() bool { return m.Start() == StartAs(etcdstart.Established, m.ID) }

// Shown reports whether the client Service selects the pod.
func (m Member) Shown() bool { return m.Pod != nil && m.Pod.Labels[VoterLabel] == IsVoter }

// Start returns the start annotation of the pod, which says how etcd may start; "" without a pod.
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
