// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/workload"
)

// Node holds the properties of a node that matter for the members on it.
type Node struct {
	// SilentSince is when the kubelet stopped reporting; zero while it reports.
	SilentSince time.Time
	// OutOfService is true if the taint out-of-service confirms that the machine is off.
	OutOfService bool
	// Cordoned is true if no new pod is scheduled on the node; its pods may soon be drained.
	Cordoned bool
	// Zone is the zone of the node; empty if it has none.
	Zone string
}

// NodeOf extracts what the rules use from a node. Only a change of this result reconciles the clusters with pods on the
// node.
func NodeOf(n *corev1.Node) Node {
	out := Node{Zone: workload.Zone(n), Cordoned: n.Spec.Unschedulable}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			out.SilentSince = c.LastTransitionTime.Time
		}
	}
	for _, taint := range n.Spec.Taints {
		out.OutOfService = out.OutOfService || taint.Key == corev1.TaintNodeOutOfService
	}
	return out
}

// NodeOfPod returns the node of a pod; nil if the pod has none, or the node is gone.
func NodeOfPod(nodes map[string]Node, pod *corev1.Pod) *Node {
	if pod == nil {
		return nil
	}
	if n, ok := nodes[pod.Spec.NodeName]; ok {
		return &n
	}
	return nil
}
