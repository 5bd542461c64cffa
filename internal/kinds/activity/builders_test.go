// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

type option func(*egov1.Activity)

// newActivity was created at noon and its first run written down then.
func newActivity(options ...option) *egov1.Activity {
	a := &egov1.Activity{}
	a.Namespace, a.Name, a.UID, a.Generation = "chores", "sysctl", "uid-of-sysctl", 1
	a.CreationTimestamp = metav1.NewTime(noon)
	a.Spec.Command, a.Spec.Host = "sysctl -w vm.swappiness=1", "node1"
	a.Spec.Requester = &egov1.Requester{Username: "ada", Groups: []string{"admins"}}
	a.Status.Run, a.Status.Prosta = 1, egov1.StatePending
	for _, o := range options {
		o(a)
	}
	return a
}

func inState(state egov1.State) option { return func(a *egov1.Activity) { a.Status.Prosta = state } }

func withPodUID(uid string) option { return func(a *egov1.Activity) { a.Status.PodUID = uid } }

func cancelled(a *egov1.Activity) { a.Spec.Cancel = true }

func leaving(a *egov1.Activity) {
	a.DeletionTimestamp = &metav1.Time{Time: noon}
	a.Finalizers = []string{finalizer}
}

func everyHour(a *egov1.Activity) {
	schedule := "0 * * * *"
	a.Spec.Schedule = &schedule
}

type podOption func(*corev1.Pod)

// newPod is bound to its host and has not begun.
func newPod(options ...podOption) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = Namespace, "activity-uid-of-sysctl-1", "uid-of-pod"
	pod.Finalizers = []string{resultFinalizer}
	pod.Spec.NodeName = "node1"
	pod.Status.Phase = corev1.PodPending
	for _, o := range options {
		o(pod)
	}
	return pod
}

// bornAt was created so long after noon.
func bornAt(after time.Duration) podOption {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(after)) }
}

// madeIn was made while its host had a boot.
func madeIn(boot string) podOption {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{bootAnnotation: boot} }
}

func nowhere(p *corev1.Pod) { p.Spec.NodeName = "" }

func deleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }

func running(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container, State: state}}
}

// unheard is what the node controller makes of a pod whose node is not heard of.
func unheard(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions,
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse},
		corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
}

func unschedulable(words string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: words})
	}
}

// endedWith had a container that ended with a termination message.
func endedWith(message string) podOption {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		end := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(noon), ExitCode: 137, Reason: "Error", Message: message}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container, State: end}}
	}
}

// startCutShort had a container whose start failed; a kubelet says of it that it was started in 1970.
func startCutShort(started time.Time) podOption {
	return func(p *corev1.Pod) {
		endedWith("failed to start containerd task: context canceled")(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.Reason, end.ExitCode, end.StartedAt = "StartError", 128, metav1.NewTime(started)
	}
}

// waitsAgain has a container that ended before, and none since.
func waitsAgain(p *corev1.Pod) {
	s := &p.Status.ContainerStatuses[0]
	s.LastTerminationState, s.State = s.State, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
}

// failedAtOnce never had a container.
func failedAtOnce(reason string) podOption {
	return func(p *corev1.Pod) { p.Status.Phase, p.Status.Message = corev1.PodFailed, reason }
}

// disrupted was ended before its time, by someone and with words.
func disrupted(by, words string) podOption {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: by, Message: words})
	}
}

// evictedBy was ended by its kubelet, in these words.
func evictedBy(words string) podOption {
	return func(p *corev1.Pod) {
		p.Status.Reason, p.Status.Message = "Evicted", words
		disrupted("TerminationByKubelet", words)(p)
	}
}

// dead is a host that is not heard of since some time before noon.
func dead(before time.Duration) *hostState {
	return &hostState{since: noon.Add(-before), words: "Kubelet stopped posting node status."}
}

// notFound is what a kubelet says of a container that it does not have at the pod's end.
func notFound(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "The container could not be located"},
	}}}
}

func seenAtWork(a *egov1.Activity) { a.Status.StartTime = &metav1.Time{Time: noon} }

func permitted() *beginning { return &beginning{order: "{}"} }

func hindered(reason, message string, final bool) *beginning {
	return &beginning{obstacle: &obstacle{final: final, reason: reason, message: message}}
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("expected %s %v, got %v", what, want, got)
	}
}
