// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type podOption func(*corev1.Pod)

func newPod(options ...podOption) *corev1.Pod {
	pod := &corev1.Pod{}
	for _, option := range options {
		option(pod)
	}
	return pod
}

func has(kind corev1.PodConditionType, status corev1.ConditionStatus, message string) podOption {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Message: message})
	}
}

func isReady(p *corev1.Pod)   { has(corev1.PodReady, corev1.ConditionTrue, "")(p) }
func isDeleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func isOn(node string) podOption { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func failed(message, reason string) podOption {
	return func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Message, p.Status.Reason = corev1.PodFailed, message, reason
	}
}

func waits(name, reason, message string) podOption {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, waiting(name, reason, message))
	}
}

func initWaits(name, reason, message string) podOption {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, waiting(name, reason, message))
	}
}

func waiting(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func runs(name string) podOption {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
}

// says sets the termination message of the last container, which must have crashed.
func says(message string) podOption {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message = message
	}
}

func crashed(times int32, reason string, code int32) podOption {
	return func(p *corev1.Pod) {
		status := &p.Status.ContainerStatuses[len(p.Status.ContainerStatuses)-1]
		status.RestartCount = times
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}
	}
}

// ended adds a container whose last run ended, and which the kubelet restarts later.
func ended(name string, restarts, code int32) podOption {
	return func(p *corev1.Pod) {
		last := &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: code, Message: "bad file"}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Terminated: last}})
	}
}

func TestWhyAPodIsNotReadyQuotesTheComponentThatKnows(t *testing.T) {
	for name, test := range map[string]struct {
		pod   *corev1.Pod
		why   string
		stuck bool
	}{
		"it is ready":                                         {newPod(isReady, runs("main")), "", false},
		"it is ready and going":                               {newPod(isReady, isDeleted, runs("main")), "the pod is being deleted", false},
		"going goes before anything else":                     {newPod(isDeleted, has(corev1.PodScheduled, corev1.ConditionFalse, "no room"), failed("", "")), "the pod is being deleted", false},
		"nothing is known yet":                                {newPod(), "the pod is starting", false},
		"it is scheduled":                                     {newPod(has(corev1.PodScheduled, corev1.ConditionTrue, ""), has(corev1.PodReady, corev1.ConditionFalse, "containers not ready")), "the pod is starting", false},
		"its claims have no volumes yet":                      {newPod(has(corev1.PodScheduled, corev1.ConditionFalse, "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found")), "the pod cannot be scheduled: 0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found", false},
		"no node has room":                                    {newPod(has(corev1.PodScheduled, corev1.ConditionFalse, "0/3 nodes are available: 3 Insufficient memory.")), "the pod cannot be scheduled: 0/3 nodes are available: 3 Insufficient memory.", true},
		"containers are being made":                           {newPod(waits("main", "ContainerCreating", "")), "the pod is starting", false},
		"init containers run":                                 {newPod(waits("main", "PodInitializing", "")), "the pod is starting", false},
		"its probe fails":                                     {newPod(runs("main"), has(corev1.PodReady, corev1.ConditionFalse, "containers with unready status: [main]")), "container main runs, and its readiness probe does not succeed yet", false},
		"the image cannot be pulled":                          {newPod(waits("main", "ErrImagePull", "not found")), "container main: ErrImagePull: not found", true},
		"the second container's image":                        {newPod(runs("main"), waits("exporter", "ImagePullBackOff", "Back-off pulling image x")), "container exporter: ImagePullBackOff: Back-off pulling image x", true},
		"an init container goes before":                       {newPod(waits("main", "ErrImagePull", "not found"), initWaits("first", "CreateContainerConfigError", "secret \"s\" not found")), "container first: CreateContainerConfigError: secret \"s\" not found", true},
		"it crashes":                                          {newPod(waits("main", "CrashLoopBackOff", "back-off 5m0s"), crashed(7, "OOMKilled", 137)), "container main crashes again and again, 7 times so far (last: OOMKilled, exit code 137)", true},
		"it crashes without a reason":                         {newPod(waits("main", "CrashLoopBackOff", ""), crashed(2, "", 71)), "container main crashes again and again, 2 times so far (last: Error, exit code 71)", true},
		"it crashes without output":                           {newPod(waits("main", "CrashLoopBackOff", "")), "container main crashes again and again", true},
		"its node crashed":                                    {newPod(runs("main"), isOn("node3"), has(corev1.ContainersReady, corev1.ConditionTrue, ""), has(corev1.PodReady, corev1.ConditionFalse, "")), "the containers are ready, but node node3 does not answer, or a readiness gate of the pod is false", true},
		"it is deleted on a node that crashed":                {newPod(isOn("node3"), has(corev1.ContainersReady, corev1.ConditionTrue, ""), has(corev1.PodReady, corev1.ConditionFalse, ""), isDeleted), "the pod is being deleted, and node node3 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service", true},
		"it crashes, with last words":                         {newPod(waits("main", "CrashLoopBackOff", ""), crashed(2, "Error", 71), says("failed to set rlimit\n for open files")), "container main crashes again and again, 2 times so far (last: Error, exit code 71: failed to set rlimit for open files)", true},
		"it crashes, and prints much before":                  {newPod(waits("main", "CrashLoopBackOff", ""), crashed(2, "Error", 1), says(strings.Repeat("# Loading\n", 99)+"# Bad file format")), "container main crashes again and again, 2 times so far (last: Error, exit code 1: ... " + strings.Repeat("# Loading ", 28) + "# Bad file format)", true},
		"it has crashed once":                                 {newPod(waits("main", "CrashLoopBackOff", ""), crashed(1, "Error", 1)), "container main crashes (last: Error, exit code 1)", true},
		"it crashes, and the kubelet shows only the last end": {newPod(runs("main"), ended("exporter", 3, 1)), "container exporter crashes again and again, 3 times so far (last: Error, exit code 1: bad file)", true},
		"it ended once, and the kubelet restarts it at once":  {newPod(ended("main", 0, 1)), "the pod is starting", false},
		"it ends without an error":                            {newPod(ended("main", 3, 0)), "the pod is starting", false},
		"it was evicted":                                      {newPod(failed("The node was low on resource: memory.", "Evicted")), "The node was low on resource: memory.", true},
		"it failed with a reason":                             {newPod(failed("", "NodeLost")), "NodeLost", true},
		"it failed":                                           {newPod(failed("", "")), "the pod failed", true},
		"a container's words go before the pod's":             {newPod(failed("m", "r"), waits("main", "CreateContainerError", "no such command")), "container main: CreateContainerError: no such command", true},
	} {
		t.Run(name, func(t *testing.T) {
			why, stuck := WhyNotReady(test.pod)
			if why != test.why || stuck != test.stuck {
				t.Errorf("expected %q (may need a hand: %v), got %q (%v)", test.why, test.stuck, why, stuck)
			}
		})
	}
}

func TestAPodIsReadyWhenItSaysSoAndIsNotGoing(t *testing.T) {
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a new one":                      {newPod(), false},
		"a ready one":                    {newPod(isReady), true},
		"one that says no":               {newPod(has(corev1.PodReady, corev1.ConditionFalse, "")), false},
		"one that is not known":          {newPod(has(corev1.PodReady, corev1.ConditionUnknown, "")), false},
		"one whose containers are ready": {newPod(has(corev1.ContainersReady, corev1.ConditionTrue, "")), false},
		"one that is going":              {newPod(isReady, isDeleted), false},
	} {
		if got := Ready(test.pod); got != test.want {
			t.Errorf("%s: expected ready %v, got %v", name, test.want, got)
		}
	}
}
