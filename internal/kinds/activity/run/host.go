// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

const (
	// HostPatience is how long a pod may take to start before opcrew checks its host. The time between further checks
	// grows up to hostLooks.
	HostPatience = 10 * time.Second
	hostLooks    = 5 * time.Minute
)

// Host holds the state of a host according to its Node.
type Host struct {
	// Missing is true if the node does not exist.
	Missing bool
	// Ready is the status of the node's condition Ready. since is its last transition time, and message its message.
	Ready   bool
	since   time.Time
	message string
	// boot is the boot ID of the host.
	boot string
	// joins says that the host joins a NodePool; empty if it does not.
	joins string
}

// StateOf returns the state of a host from its Node object.
func StateOf(node *corev1.Node) *Host {
	out := &Host{boot: node.Status.NodeInfo.BootID, joins: joining(node)}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.Ready, out.since, out.message = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time, c.Message
		}
	}
	return out
}

// joining describes a node that joins a NodePool; empty if it does not.
func joining(node *corev1.Node) string {
	if !claims.Joins(node) {
		return ""
	}
	pool := "its NodePool"
	if pools := claims.JoiningPools(node); len(pools) > 0 {
		pool = "NodePool " + strings.Join(pools, ", ")
	}
	return fmt.Sprintf("node %s carries the taint %s until spec.onJoin of %s has run there; an Activity with placement: Repair runs there now", node.Name, nodesv1.JoiningTaint, pool)
}

// keepsOut describes why the scheduler places no pod on the host; empty if it is not known.
func (h *Host) keepsOut(pod *corev1.Pod) string {
	if h == nil || !is(pod, corev1.PodScheduled, corev1.ConditionFalse) {
		return ""
	}
	return h.joins
}

// Explains reports whether the state of the host may explain the state of a pod: the pod does not start, the kubelet of
// the pod does not respond, or the pod ended without a result.
func Explains(a *egov1.Activity, pod *corev1.Pod, now time.Time) bool {
	switch {
	case pod == nil || Over(a):
		return false
	case Ended(pod):
		return ResultOf(pod) == nil && pod.Annotations[BootAnnotation] != ""
	case begun(pod):
		return !hostReachable(pod)
	default:
		return is(pod, corev1.PodScheduled, corev1.ConditionFalse) || now.Sub(pod.CreationTimestamp.Time) >= HostPatience
	}
}

// nextLook returns the time until the next check of a pod that has not started; at most the time left until the start
// deadline.
func nextLook(pod *corev1.Pod, left time.Duration, now time.Time) time.Duration {
	return min(left, max(HostPatience, min(hostLooks, now.Sub(pod.CreationTimestamp.Time))))
}

// restarted reports whether the host was restarted after the pod was created.
func (h *Host) restarted(pod *corev1.Pod) bool {
	was := pod.Annotations[BootAnnotation]
	return h != nil && h.boot != "" && was != "" && h.boot != was
}

// Problem describes the problem of a host; empty if there is none or the host was not read.
func (h *Host) Problem(name string) string {
	switch {
	case h == nil || h.Ready:
		return ""
	case h.Missing:
		return "node " + name + " no longer exists"
	case h.since.IsZero():
		return "node " + name + " is not Ready"
	}
	text := fmt.Sprintf("node %s has not been Ready since %s", name, h.since.UTC().Format(time.RFC3339))
	if h.message != "" {
		text += ": " + h.message
	}
	return text
}
