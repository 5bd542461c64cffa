// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// overdue is how long after its grace period a pod counts as stuck. A working kubelet needs less.
const overdue = 10 * time.Second

// Leftovers are pods that are stuck while being deleted, and that nothing waits for. The caller makes sure that nothing
// waits for them.
type Leftovers []*corev1.Pod

// StuckOf returns the pods that are stuck while being deleted.
func StuckOf(pods []*corev1.Pod, now time.Time) Leftovers {
	var out Leftovers
	for _, pod := range pods {
		if Stuck(pod, now) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Stuck reports whether a pod is being deleted and does not end, because its node does not answer or its grace period
// is over.
func Stuck(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && (lost(pod) || !now.Before(pod.DeletionTimestamp.Add(overdue)))
}

// StuckIn returns the time until the next pod that is being deleted counts as stuck; 0 if there is none.
func StuckIn(pods []*corev1.Pod, now time.Time) time.Duration {
	var soonest time.Duration
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil || Stuck(pod, now) {
			continue
		}
		if wait := pod.DeletionTimestamp.Add(overdue).Sub(now); soonest == 0 || wait < soonest {
			soonest = wait
		}
	}
	return soonest
}

// Report sets the condition Leftovers, and adds the pods to the message of Ready while that is True. Call it after
// Ready has been set.
func (l Leftovers) Report(set condition.Set) {
	if len(l) == 0 {
		set.Remove(common.ConditionLeftovers)
		return
	}
	var names, causes []string
	for _, pod := range l {
		names = append(names, pod.Name)
		causes = append(causes, pod.Name+": "+whyStuck(pod))
	}
	set.True(common.ConditionLeftovers, common.ReasonPodStuck, "Pods are stuck in deletion, but nothing waits for them; "+strings.Join(causes, "; "))
	if ready := meta.FindStatusCondition(*set.Conditions, "Ready"); ready != nil && ready.Status == metav1.ConditionTrue {
		set.True("Ready", ready.Reason, ready.Message+"; stuck in deletion: pod "+strings.Join(names, ", "))
	}
}

// whyStuck returns why a pod that is being deleted does not end.
func whyStuck(pod *corev1.Pod) string {
	if why, needsHand := WhyNotReady(pod); needsHand {
		return why
	}
	out := fmt.Sprintf("the pod is being deleted, and should have ended by %s", pod.DeletionTimestamp.UTC().Format(time.RFC3339))
	if len(pod.Finalizers) > 0 {
		return out + ", but the finalizers " + strings.Join(pod.Finalizers, ", ") + " block the deletion"
	}
	return fmt.Sprintf("%s; check node %s; if the node is gone for good, delete the Node or taint it %s", out, pod.Spec.NodeName, corev1.TaintNodeOutOfService)
}
