// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// KeepsCordon reports whether a node that a fleet has cordoned stays cordoned: while the command is pending or running,
// while the node is drained, and after a failure. h is the host; nil if the fleet does not select the node any more.
func KeepsCordon(a *egov1.Activity, node *corev1.Node, h *Host, v Verdict, children []*egov1.Activity) bool {
	switch {
	case h != nil && h.Draining():
		return v.Create
	case h != nil && h.begun():
		return h.keepsCordon()
	case h != nil && h.Earlier:
		return false
	}
	return failedBefore(a, node, children)
}

// failedBefore reports whether the command did not succeed in the earlier run that cordoned a node.
func failedBefore(a *egov1.Activity, node *corev1.Node, children []*egov1.Activity) bool {
	cordon := claims.CordonOf(node)
	for _, child := range children {
		number, ok := RunOf(a.Name, child)
		if ok && cordon != nil && number == cordon.Run && child.Spec.Host == node.Name {
			return (&Host{Child: child}).keepsCordon()
		}
	}
	return false
}

// keepsCordon reports whether the node of a host stays cordoned, because the command is active there, or may have left
// it half changed.
func (h *Host) keepsCordon() bool {
	switch {
	case h.active():
		return true
	case h.State() == egov1.StateSucceeded || h.Message != "":
		return false
	}
	return h.Child == nil || !neverRan(h.Child)
}

// neverRan reports whether the command of an ended Activity has certainly not started.
func neverRan(child *egov1.Activity) bool {
	s := child.Status
	return s.StartTime == nil && (s.Prosta == egov1.StateRefused || s.Prosta == egov1.StateCancelled)
}
