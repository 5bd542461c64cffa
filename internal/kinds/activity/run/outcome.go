// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// outcome determines the state of a run of an Activity whose pod has ended.
func outcome(a *egov1.Activity, f Observed) Verdict {
	pod, since := f.Pod, ""
	if f.Host.restarted(pod) {
		since = ", and host " + a.Spec.Host + " was restarted after the pod was created"
	}
	result := ResultOf(pod)
	switch {
	case result != nil:
		v := byResult(a, pod, *result)
		v.Result = result
		return v
	case begun(pod) || a.Status.StartTime != nil:
		return Verdict{State: egov1.StateUnknown, Reason: egov1.ReasonLost,
			Message: "the container ended without reporting a result: " + lastMessage(pod) + since + "; whether the command ended is unknown, and opcrew runs the command again only if spec.run is increased"}
	case pod.Spec.NodeName != "" && !failedByKubelet(pod):
		return Verdict{State: egov1.StateUnknown, Reason: egov1.ReasonLost,
			Message: disappeared(a) + " disappeared before it reported whether the command started: " + lastMessage(pod) + since + "; opcrew runs the command again only if spec.run is increased"}
	case a.Spec.Cancel:
		return Verdict{State: egov1.StateCancelled, Reason: egov1.ReasonCancelled, Message: "the run was cancelled before the command started"}
	case a.Status.Prosta == egov1.StateUnreachable:
		return Verdict{State: egov1.StateUnreachable, Reason: egov1.ReasonHostUnreachable, Message: "the command did not start before the deadline, so opcrew deleted the pod"}
	default:
		return Verdict{State: egov1.StateFailed, Reason: egov1.ReasonNotStarted, Message: "the command did not start: " + lastMessage(pod)}
	}
}

func disappeared(a *egov1.Activity) string {
	if OverSSH(a) {
		return "the node from which opcrew runs the command"
	}
	return "the host"
}

// Reasons that controllers set on the pods of deleted or lost nodes. These controllers also set the phase of such a pod
// to Failed.
const (
	collected = "DeletionByPodGC"
	nodeLost  = "NodeLost"
	// Reasons that the kubelet and the eviction API set.
	byKubelet = "Evicted"
	byAPI     = "EvictionByEvictionAPI"
)

// failedByKubelet reports whether the kubelet itself failed the pod. If another controller failed the pod, the command
// may have run, because a kubelet reports a started container a second or more late.
func failedByKubelet(pod *corev1.Pod) bool {
	if disruption(pod).Reason == collected || pod.Status.Reason == nodeLost {
		return false
	}
	return ContainerStatus(pod).State.Terminated != nil || pod.Status.Reason != "" || pod.Status.Message != ""
}

// disruption returns the condition that shows who ended a pod early, and why; empty if the pod was not ended early.
func disruption(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return corev1.PodCondition{}
}

// evicted describes the eviction of a pod, with the message of the component that evicted it; empty if the pod was not
// evicted.
func evicted(pod *corev1.Pod) string {
	c := disruption(pod)
	words := cmp.Or(firstLine(pod.Status.Message), firstLine(c.Message), c.Reason)
	switch {
	case c.Reason == collected:
		return ""
	case pod.Status.Reason == byKubelet || c.Reason == byAPI:
		return "the pod was evicted (" + strings.TrimSpace(words) + ")"
	case c.Reason != "":
		return fmt.Sprintf("the pod was disrupted by %s (%s)", c.Reason, strings.TrimSpace(words))
	}
	return ""
}

// lastMessage returns the best available explanation of why a pod ended.
func lastMessage(pod *corev1.Pod) string {
	if why := evicted(pod); why != "" {
		return why
	}
	s := ContainerStatus(pod)
	if t := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated); t != nil {
		return cmp.Or(firstLine(t.Message), fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode))
	}
	words := cmp.Or(pod.Status.Message, pod.Status.Reason, disruption(pod).Message)
	if pod.DeletionTimestamp != nil {
		return cmp.Or(words, "the pod was deleted")
	}
	return cmp.Or(words, "the pod failed")
}

// mostWords is the length of the longest explanation of a kubelet or of a command that a message quotes.
const mostWords = 200

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return condition.Cut(line, mostWords)
}

// byResult converts the result that the agent in the pod reported to the state of a run of an Activity.
func byResult(a *egov1.Activity, pod *corev1.Pod, r hostjob.Result) Verdict {
	switch r.State {
	case hostjob.Succeeded:
		return Verdict{State: egov1.StateSucceeded, Reason: egov1.ReasonSucceeded, Message: "the command ended with exit code 0"}
	case hostjob.Failed:
		return failed(r)
	case hostjob.Cancelled:
		why := "the processes of the command were ended"
		if !a.Spec.Cancel {
			why = cmp.Or(evicted(pod), "the pod was deleted by another client") + ", so " + why
		}
		return Verdict{State: egov1.StateCancelled, Reason: egov1.ReasonCancelled, Message: why}
	case hostjob.TimedOut:
		return Verdict{State: egov1.StateTimedOut, Reason: egov1.ReasonTimedOut, Message: "the command ran longer than its timeout and was ended"}
	case hostjob.NotStarted, hostjob.Invalid:
		if r.Reason == hostjob.ReasonNoConnect {
			return Verdict{State: egov1.StateUnreachable, Reason: egov1.ReasonHostUnreachable, Message: "the command did not start: " + r.Message}
		}
		return Verdict{State: egov1.StateFailed, Reason: egov1.ReasonNotStarted, Message: "the command did not start: " + cmp.Or(r.Message, r.Reason)}
	default:
		return Verdict{State: egov1.StateUnknown, Reason: egov1.ReasonLost, Message: cmp.Or(r.Message, r.Reason)}
	}
}

func failed(r hostjob.Result) Verdict {
	if r.Signal != "" {
		return Verdict{State: egov1.StateFailed, Reason: egov1.ReasonKilled, Message: "signal " + r.Signal + " ended the command"}
	}
	code := int32(-1)
	if r.ExitCode != nil {
		code = int32(*r.ExitCode)
	}
	return Verdict{State: egov1.StateFailed, Reason: egov1.ReasonExited, Message: fmt.Sprintf("the command ended with exit code %d", code)}
}
