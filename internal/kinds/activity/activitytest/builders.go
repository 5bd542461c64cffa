// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package activitytest builds Activities and their pods for the tests of package activity and its subpackages.
package activitytest

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

var Noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// Exit3 is a result, as the agent in the pod reports it, of a command that failed with exit code 3.
const Exit3 = `{"state":"Failed","reason":"Exited","exitCode":3,"startedAt":"2026-08-01T12:00:01Z","endedAt":"2026-08-01T12:00:03.5Z","tail":"no"}`

type Option func(*egov1.Activity)

// New returns an Activity that was created at noon and whose status records the first run.
func New(options ...Option) *egov1.Activity {
	a := &egov1.Activity{}
	a.Namespace, a.Name, a.UID, a.Generation = "chores", "sysctl", "uid-of-sysctl", 1
	a.CreationTimestamp = metav1.NewTime(Noon)
	a.Spec.Command, a.Spec.Host = "sysctl -w vm.swappiness=1", "node1"
	a.Spec.Requester = &egov1.Requester{Username: "ada", Groups: []string{"admins"}}
	a.Status.Run, a.Status.Prosta = 1, egov1.StatePending
	for _, o := range options {
		o(a)
	}
	return a
}

func InState(state egov1.State) Option { return func(a *egov1.Activity) { a.Status.Prosta = state } }

func WithPodUID(uid string) Option { return func(a *egov1.Activity) { a.Status.PodUID = uid } }

func Cancelled(a *egov1.Activity) { a.Spec.Cancel = true }

func Leaving(a *egov1.Activity) {
	a.DeletionTimestamp = &metav1.Time{Time: Noon}
	a.Finalizers = []string{"opcrew.io/activity"}
}

func EveryHour(a *egov1.Activity) {
	schedule := "0 * * * *"
	a.Spec.Schedule = &schedule
}

// OverSSH makes an Activity run on a machine outside the cluster.
func OverSSH(a *egov1.Activity) {
	a.Spec.Host, a.Spec.ExecUser = "db1", "admin"
	a.Spec.SSH = &egov1.SSH{Address: "db1.example.com:2222", Secret: "logins"}
}

type PodOption func(*corev1.Pod)

// Pod returns a pod that is assigned to its host but has not started.
func Pod(options ...PodOption) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "opcrew-activities", "activity-uid-of-sysctl-1", "uid-of-pod"
	pod.Finalizers = []string{"opcrew.io/result"}
	pod.Spec.NodeName = "node1"
	pod.Status.Phase = corev1.PodPending
	for _, o := range options {
		o(pod)
	}
	return pod
}

// CreatedAt sets the creation time of a pod, relative to noon.
func CreatedAt(after time.Duration) PodOption {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(Noon.Add(after)) }
}

// InBoot sets the annotation with the boot ID that the host had when the pod was created.
func InBoot(boot string) PodOption {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{"opcrew.io/boot": boot} }
}

func Nowhere(p *corev1.Pod) { p.Spec.NodeName = "" }

func Deleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: Noon} }

func Running(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(Noon)}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "run", State: state}}
}

// Unreachable sets the conditions that the node controller sets when a node does not respond.
func Unreachable(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions,
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse},
		corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
}

func Unschedulable(message string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message})
	}
}

// EndedWith makes the container end with a termination message.
func EndedWith(message string) PodOption {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		end := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(Noon), ExitCode: 137, Reason: "Error", Message: message}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "run", State: end}}
	}
}

// StartCutShort makes the container end because its start failed. started is the start time that the kubelet reports;
// in practice, the kubelet reports the year 1970.
func StartCutShort(started time.Time) PodOption {
	return func(p *corev1.Pod) {
		EndedWith("failed to start containerd task: context canceled")(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.Reason, end.ExitCode, end.StartedAt = "StartError", 128, metav1.NewTime(started)
	}
}

// WaitsAgain makes the container wait again after it ended.
func WaitsAgain(p *corev1.Pod) {
	s := &p.Status.ContainerStatuses[0]
	s.LastTerminationState, s.State = s.State, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
}

// FailedAtOnce makes a pod fail before it has a container.
func FailedAtOnce(reason string) PodOption {
	return func(p *corev1.Pod) { p.Status.Phase, p.Status.Message = corev1.PodFailed, reason }
}

// Disrupted makes a controller end the pod early, with the given message.
func Disrupted(by, message string) PodOption {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: by, Message: message})
	}
}

// EvictedBy makes the kubelet evict the pod, with the given message.
func EvictedBy(message string) PodOption {
	return func(p *corev1.Pod) {
		p.Status.Reason, p.Status.Message = "Evicted", message
		Disrupted("TerminationByKubelet", message)(p)
	}
}

// NotFound sets the status that a kubelet reports if it cannot find the container when the pod ends.
func NotFound(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "run", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "The container could not be located"},
	}}}
}

func Started(a *egov1.Activity) { a.Status.StartTime = &metav1.Time{Time: Noon} }

func Check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("expected %s %v, got %v", what, want, got)
	}
}
