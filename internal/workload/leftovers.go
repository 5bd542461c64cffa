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

// overdue is how long a pod must still exist after the end of its grace period to count as stuck. A working kubelet
// deletes it sooner.
const overdue = 10 * time.Second

// Leftovers are pods that are stuck while being deleted, but do no harm: no new pod and no volume waits until they are
// gone. The caller must include only such pods.
type Leftovers []*corev1.Pod

// StuckOf returns those pods that are stuck while being deleted, sorted by name.
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

// Stuck reports whether a pod is stuck while being deleted: its node does not respond, or its grace period has ended.
func Stuck(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && (lost(pod) || !now.Before(pod.DeletionTimestamp.Add(overdue)))
}

// StuckIn returns the time until the next pod that is being deleted counts as stuck; 0 if no pod will.
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

// Report sets the condition Leftovers. If Ready is True, it also adds the stuck pods to the message of Ready, so call
// it after setting Ready.
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

// whyStuck returns why a deleted pod still exists.
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
