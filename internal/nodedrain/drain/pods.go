// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Pod identifies a pod. An eviction must have its UID as a precondition, because a new pod may get the same name.
type Pod struct {
	Namespace, Name string
	UID             types.UID
}

// String returns namespace/name.
func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// Blocked is a pod that cannot be evicted, or does not end.
type Blocked struct {
	Pod
	// Budget is the name of the PodDisruptionBudget that forbids the eviction; empty if none does.
	Budget string
	// Message says why, and what to do.
	Message string
}

func identity(pod *corev1.Pod) Pod { return Pod{pod.Namespace, pod.Name, pod.UID} }

// Stays reports whether a pod remains on a drained node: a pod of a DaemonSet, which would come back at once; a static
// pod, which the kubelet runs; a pod that installs the machine agent; and a pod that has finished, which runs nothing.
func Stays(pod *corev1.Pod) bool {
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return static || isFinished(pod) || isDaemon(pod) || pod.Namespace == machineorder.Namespace
}

func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func isDaemon(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet" && strings.HasPrefix(owner.APIVersion, "apps/")
}

// patience is how long after its deadline a pod may take to disappear.
const patience = time.Minute

// whyStuck explains why a pod that was deleted does not end; empty if it is not overdue. The API server sets the
// deletion time to the time at which the grace period is over.
func whyStuck(pod *corev1.Pod, now time.Time) string {
	if pod.DeletionTimestamp == nil || now.Before(pod.DeletionTimestamp.Add(patience)) {
		return ""
	}
	since := Age(now.Sub(pod.DeletionTimestamp.Time))
	if len(pod.Finalizers) > 0 {
		return fmt.Sprintf("its grace period ended %s ago, and the finalizer %s keeps it: find the controller of the finalizer", since, strings.Join(pod.Finalizers, ", "))
	}
	return fmt.Sprintf("its grace period ended %s ago, and the kubelet has not stopped it: check the kubelet and the container runtime of the node", since)
}

// Age formats a duration with its largest unit, such as 3h.
func Age(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= unit.size {
			return fmt.Sprintf("%d%s", d/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%ds", max(0, d/time.Second))
}
