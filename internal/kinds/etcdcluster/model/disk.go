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

// A volume on the disk of a node goes with that node; one on the network does not, and its member comes back
// elsewhere. Only the volume itself shows which of the two it is; and a machine that is only restarted, as
// by those who mend nodes, may be back in minutes with its disk. So a member is stranded when its pod has been
// recreated, could not be placed for as long as a node may be silent, and all nodes that have its volume are gone.

// stranded reports that the volume of a member went with its node; empty: it may be used yet.
func (j Judge) stranded(m Member) string {
	since := UnschedulableSince(m.Pod)
	if since.IsZero() || j.now.Sub(since) < j.nodeLossAfter || !m.Disk.Gone {
		return ""
	}
	return fmt.Sprintf("its volume is on node %s, which is gone or out of service, and its pod could not be placed since %s",
		strings.Join(m.Disk.Nodes, ", "), since.UTC().Format(time.RFC3339))
}

// Disk is where the volume of a member is, if it is bound to nodes. It is read only for a pod that cannot be scheduled.
type Disk struct {
	// Nodes are the host names of the only nodes on which the volume can be used.
	Nodes []string
	// Gone: all these nodes are gone or out of service.
	Gone bool
}

// UnschedulableSince is since when the scheduler has found no node for a pod; zero: it has one, or was not scheduled yet.
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

// NodesOf are the host names of the only nodes that a volume can be used on; none: it is not bound to nodes.
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
			return nil // by this term it can be used elsewhere, too
		}
		out = append(out, term.MatchExpressions[i].Values...)
	}
	return out
}
