// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remediation decides what happens to the machine of a node that is not Ready: whether it may be fenced (powered
// off), which Activities run for that, and when there is evidence that it is off. Its functions are pure, except
// the one in leases.go. The taints of a fenced node are in taints.go, the ordered rules in rules.go and steps.go.
package remediation

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Input is what is known about a node of a pool with spec.remediation.
type Input struct {
	Now     time.Time
	Pool    Pool
	Node    *corev1.Node
	Cluster Cluster
	// Record is the earlier record of the same outage in the status of the pool; nil if there is none.
	Record *nodesv1.NodeRemediation
	// Runs are the Activities of the pool by name.
	Runs map[string]*egov1.Activity
	// Obstacle is why the operator may not create Activities for the pool; nil if nothing is wrong.
	Obstacle *Obstacle
}

// Obstacle is the reason and message of a condition.
type Obstacle struct{ Reason, Message string }

// Pool is what is known about a pool.
type Pool struct {
	Name      string
	UID       types.UID
	Spec      *nodesv1.Remediation
	Requester *egov1.Requester
	// Frozen is set if an annotation of the pool holds back changes.
	Frozen bool
	// Members are the nodes of the pool.
	Members []*corev1.Node
}

// Cluster is what is known about all nodes.
type Cluster struct {
	Nodes []*corev1.Node
	// Renewed has the time at which the kubelet of each node last renewed its lease, by node name.
	Renewed map[string]time.Time
}

// Verdict is what becomes of a node.
type Verdict struct {
	// Record goes to the status of the pool; nil if nothing is wrong with the node.
	Record *nodesv1.NodeRemediation
	// Held is set if a safety rule forbids to continue.
	Held *Obstacle
	// Create are the Activities to create now.
	Create []Run
	// Again is when to look again if no event comes.
	Again time.Duration
}

// Ready returns the status of a node's condition Ready, and since when it has this status.
func Ready(node *corev1.Node) (corev1.ConditionStatus, time.Time) {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status, c.LastTransitionTime.Time
		}
	}
	return corev1.ConditionUnknown, node.CreationTimestamp.Time
}

func isReady(node *corev1.Node) bool {
	status, _ := Ready(node)
	return status == corev1.ConditionTrue
}

// reports reports whether a kubelet reports the readiness of its node, also if the node is not Ready. The status of a
// dead machine becomes Unknown.
func reports(node *corev1.Node) bool {
	status, _ := Ready(node)
	return status != corev1.ConditionUnknown
}

// RecordOf returns the record of the current outage of a node; nil if there is none.
func RecordOf(node *corev1.Node, records []nodesv1.NodeRemediation) *nodesv1.NodeRemediation {
	_, since := Ready(node)
	for i := range records {
		r := &records[i]
		if r.Node == node.Name && r.UID == node.UID && r.BootID == node.Status.NodeInfo.BootID && r.Since.Unix() == since.Unix() {
			return r
		}
	}
	return nil
}
