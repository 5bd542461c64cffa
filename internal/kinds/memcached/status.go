// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// blockers are the conditions that can keep a Memcached from being Ready, the most important first.
var blockers = []condition.Blocker{
	condition.Unless(cachev1alpha1.MemcachedChildrenReady),
	condition.Unless(cachev1alpha1.MemcachedServersReady),
}

// Report sets the status from what was read (f) and the results of the plan (done).
func (r *reconciler) Report(m *cachev1alpha1.Memcached, f facts, _ decision, done kit.Outcome) {
	s := &m.Status
	set := condition.Set{Conditions: &s.Conditions, Generation: m.Generation, Now: done.Now}
	reportRing(m, f)
	done.ReportChildren(set, cachev1alpha1.MemcachedChildrenReady)
	reportServers(set, m, f, done)
	set.SumUp(blockers, readyReason(m), readyMessage(m))
	f.Leftovers(done.Now).Report(set)
	workload.ReportPlacement(set, f.places, costOf(s.Replicas))
}

// reportRing sets the server names and counts in the status. They come from the StatefulSet's spec and not from its
// pods, so that a restart, or a StatefulSet that is being recreated, does not change them.
func reportRing(m *cachev1alpha1.Memcached, f facts) {
	s := &m.Status
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector(m)})
	size := s.Replicas
	if f.Set != nil && f.Set.Spec.Replicas != nil {
		size = *f.Set.Spec.Replicas
	}
	// When a new object gets its first servers, no keys move. When it grows again after a resize to 0, keys do move.
	if size != s.Replicas && (s.Replicas > 0 || s.LastResize != nil) {
		s.LastResize = &cachev1alpha1.Resize{From: s.Replicas, To: size, KeysMovedPercent: moved(s.Replicas, size)}
	}
	s.Replicas = size
	s.Nodes, s.Servers = podNames(m, size), servers(m, size)
	s.ReadyReplicas = f.Ready(s.Nodes)
}

// moved returns the percentage of keys, rounded up, that consistent hashing moves to other servers in a resize.
func moved(from, to int32) int32 {
	larger, smaller := max(from, to), min(from, to)
	return (100*(larger-smaller) + larger - 1) / larger
}

func reportServers(set condition.Set, m *cachev1alpha1.Memcached, f facts, done kit.Outcome) {
	const kind = cachev1alpha1.MemcachedServersReady
	s := m.Status
	switch {
	case f.Set == nil:
		set.False(kind, common.ReasonApplying, "The servers are being created")
	case s.Replicas != m.Spec.Size:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("The number of servers is changing from %d to %d", s.Replicas, m.Spec.Size))
	case workload.Changing(done, "StatefulSet"):
		// f.Refusal is not reported here: it is about pods of the previous spec.
		set.False(kind, common.ReasonUpdating, "The StatefulSet controller has not processed the last change yet")
	case f.Refusal.Words != "":
		set.False(kind, cachev1alpha1.ReasonServersMissing, fmt.Sprintf("%d of %d servers cannot be created: %s", int(s.Replicas)-len(f.Pods), s.Replicas, f.Refusal.Words))
	case s.Replicas == 0 && (f.Rolling(set.Now) || f.ScalingDown(set.Now)):
		set.False(kind, common.ReasonUpdating, "The last servers are being removed")
	case s.Replicas == 0:
		set.True(kind, cachev1alpha1.ReasonScaledToZero, "spec.size is 0, so there are no servers")
	case s.ReadyReplicas < s.Replicas:
		why, reason := firstCause(m, f)
		set.False(kind, reason, fmt.Sprintf("%d of %d servers answer; %s", s.ReadyReplicas, s.Replicas, why))
	case f.Rolling(set.Now):
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d servers are updated", f.Set.Status.UpdatedReplicas, s.Replicas))
	default:
		set.True(kind, cachev1alpha1.ReasonAllServersReady, fmt.Sprintf("%d of %d servers answer", s.ReadyReplicas, s.Replicas))
	}
}

// firstCause names the first server that is not ready and the cause, and returns a reason for the condition.
func firstCause(m *cachev1alpha1.Memcached, f facts) (cause, reason string) {
	cause, reason = f.FirstCause(m.Status.Nodes)
	if reason == common.ReasonPodsNotReady {
		reason = cachev1alpha1.ReasonServersNotReady
	}
	return cause, reason
}

func readyReason(m *cachev1alpha1.Memcached) string {
	if m.Status.Replicas == 0 {
		return cachev1alpha1.ReasonScaledToZero
	}
	return cachev1alpha1.ReasonAllServersReady
}

func readyMessage(m *cachev1alpha1.Memcached) string {
	if m.Status.Replicas == 0 {
		return "spec.size is 0, so there are no servers"
	}
	return fmt.Sprintf("%d of %d servers answer", m.Status.ReadyReplicas, m.Status.Replicas)
}

// transitions returns an event if the number of servers has changed. The event reports how many keys move.
func (r *reconciler) transitions(before, after *cachev1alpha1.Memcached) []kit.Event {
	resize := after.Status.LastResize
	if old := before.Status.LastResize; resize == nil || old != nil && *old == *resize {
		return nil
	}
	return []kit.Event{{
		Reason: "Resized", Action: "Resize",
		Note: fmt.Sprintf("Size changed from %d to %d: with consistent hashing, clients look for %d%% of the keys on other servers", resize.From, resize.To, resize.KeysMovedPercent),
	}}
}
