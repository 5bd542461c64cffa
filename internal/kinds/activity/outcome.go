// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// outcome is how a run ended whose pod has.
func outcome(a *egov1.Activity, f facts) verdict {
	pod, since := f.pod, ""
	if f.host.restarted(pod) {
		since = ", and host " + a.Spec.Host + " was restarted since its pod was made"
	}
	result := told(pod)
	switch {
	case result != nil:
		v := byResult(a, pod, *result)
		v.result = result
		return v
	case begun(pod) || a.Status.StartTime != nil:
		return verdict{state: egov1.StateUnknown, reason: egov1.ReasonLost,
			message: "the runner ended without a word: " + lastWords(pod) + since + "; whether the command did is not known, and it is not run again unless spec.run is raised"}
	case pod.Spec.NodeName != "" && !kubeletTold(pod):
		return verdict{state: egov1.StateUnknown, reason: egov1.ReasonLost,
			message: "its host was gone before it told whether the command began: " + lastWords(pod) + since + "; it is not run again unless spec.run is raised"}
	case a.Spec.Cancel:
		return verdict{state: egov1.StateCancelled, reason: egov1.ReasonCancelled, message: "cancelled before it began"}
	case a.Status.Prosta == egov1.StateUnreachable:
		return verdict{state: egov1.StateUnreachable, reason: egov1.ReasonHostUnreachable, message: "it did not begin in time, and was withdrawn"}
	default:
		return verdict{state: egov1.StateFailed, reason: egov1.ReasonNotStarted, message: "it did not begin: " + lastWords(pod)}
	}
}

// Anyone who collects the pods of nodes that are gone calls them failed, too.
const (
	collected = "DeletionByPodGC"
	nodeLost  = "NodeLost"
	// The kubelet and the API's eviction, as they call themselves.
	byKubelet = "Evicted"
	byAPI     = "EvictionByEvictionAPI"
)

// kubeletTold reports whether it is the kubelet that calls a pod failed. It is late by a second
// or more with what it knows of containers: of one that someone else gave up it may have had
// one that no one heard of.
func kubeletTold(pod *corev1.Pod) bool {
	if disruption(pod).Reason == collected || pod.Status.Reason == nodeLost {
		return false
	}
	return status(pod).State.Terminated != nil || pod.Status.Reason != "" || pod.Status.Message != ""
}

// disruption is who ended a pod before its time, and why, if anybody did.
func disruption(pod *corev1.Pod) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return corev1.PodCondition{}
}

// evicted says who ended a pod that no one has deleted, in the words of anyone who did, or is empty.
func evicted(pod *corev1.Pod) string {
	c := disruption(pod)
	words := cmp.Or(firstLine(pod.Status.Message), firstLine(c.Message), c.Reason)
	switch {
	case c.Reason == collected:
		return ""
	case pod.Status.Reason == byKubelet || c.Reason == byAPI:
		return "its pod was evicted (" + strings.TrimSpace(words) + ")"
	case c.Reason != "":
		return fmt.Sprintf("its pod was taken away by %s (%s)", c.Reason, strings.TrimSpace(words))
	}
	return ""
}

// lastWords are what is said of a pod that ended, by the kubelet or by anyone who gave it up.
func lastWords(pod *corev1.Pod) string {
	if why := evicted(pod); why != "" {
		return why
	}
	s := status(pod)
	if t := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated); t != nil {
		return cmp.Or(firstLine(t.Message), fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode))
	}
	words := cmp.Or(pod.Status.Message, pod.Status.Reason, disruption(pod).Message)
	if pod.DeletionTimestamp != nil {
		return cmp.Or(words, "its pod was deleted")
	}
	return cmp.Or(words, "its pod failed")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), 200)]
}

// byResult puts what the runner told into the words of the API.
func byResult(a *egov1.Activity, pod *corev1.Pod, r hostjob.Result) verdict {
	switch r.State {
	case hostjob.Succeeded:
		return verdict{state: egov1.StateSucceeded, reason: egov1.ReasonSucceeded, message: "exit code 0"}
	case hostjob.Failed:
		return failed(r)
	case hostjob.Cancelled:
		why := "its processes were ended"
		if !a.Spec.Cancel {
			why = cmp.Or(evicted(pod), "its pod was deleted by somebody") + ", so " + why
		}
		return verdict{state: egov1.StateCancelled, reason: egov1.ReasonCancelled, message: why}
	case hostjob.TimedOut:
		return verdict{state: egov1.StateTimedOut, reason: egov1.ReasonTimedOut, message: "it was ended, its time was up"}
	case hostjob.NotStarted, hostjob.Invalid:
		return verdict{state: egov1.StateFailed, reason: egov1.ReasonNotStarted, message: "it did not begin: " + cmp.Or(r.Message, r.Reason)}
	default:
		return verdict{state: egov1.StateUnknown, reason: egov1.ReasonLost, message: cmp.Or(r.Message, r.Reason)}
	}
}

func failed(r hostjob.Result) verdict {
	if r.Signal != "" {
		return verdict{state: egov1.StateFailed, reason: egov1.ReasonKilled, message: "signal " + r.Signal + " ended it"}
	}
	code := int32(-1)
	if r.ExitCode != nil {
		code = int32(*r.ExitCode)
	}
	return verdict{state: egov1.StateFailed, reason: egov1.ReasonExited, message: fmt.Sprintf("exit code %d", code)}
}
