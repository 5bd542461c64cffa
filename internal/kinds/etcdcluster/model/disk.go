// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A local volume is lost with its node, but a network volume is not; only the PersistentVolume shows which it is. A
// machine under repair may return within minutes. So opcrew considers a local volume lost only after its pod was
// unschedulable for nodeLossAfter.

// stranded explains that a member's volume was lost with its node; empty if the volume may still be usable.
func (j Judge) stranded(m Member) string {
	since := UnschedulableSince(m.Pod)
	if since.IsZero() || j.now.Sub(since) < j.nodeLossAfter || !m.Disk.Gone {
		return ""
	}
	return fmt.Sprintf("its volume is on node %s, which is gone or out of service, and its pod has been unschedulable since %s",
		strings.Join(m.Disk.Nodes, ", "), since.UTC().Format(time.RFC3339))
}

// Disk describes which nodes a member's volume is bound to. It is read only for a pod that cannot be scheduled.
type Disk struct {
	// Nodes are the host names of the nodes that can use the volume; empty if the volume is not bound to nodes.
	Nodes []string
	// Gone is true if all of these nodes are deleted or out of service.
	Gone bool
}

// UnschedulableSince returns the time since which the scheduler has found no node for a pod; zero if the pod has a
// node, or the scheduler has not tried yet.
func UnschedulableSince(pod *corev1.Pod) time.Time {
	if pod == nil || pod.DeletionTimestamp != nil || pod.Spec.NodeName != "" {
		return time.Time{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// NodesOf returns the host names of the only nodes that can use a volume; none if it is not bound to nodes.
func NodesOf(volume *corev1.PersistentVolume) []string {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var out []string
	for _, term := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
		i := slices.IndexFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == corev1.LabelHostname && r.Operator == corev1.NodeSelectorOpIn
		})
		if i < 0 {
			return nil // this term does not name hosts, so other nodes can also use the volume
		}
		out = append(out, term.MatchExpressions[i].Values...)
	}
	return out
}
