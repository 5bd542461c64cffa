// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package run determines the state of one run of an Activity from its pod and host. It also defines the names of
// objects of a run. It has no side effects. Package activity reads the cluster, checks rights, and handles schedules.
package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/internal/workload"
)

// ObstacleInterval is the time between two checks of an obstacle that prevents a run of an Activity from starting.
const ObstacleInterval = 10 * time.Second

// Observed is the input from which the state of a run of an Activity is determined.
type Observed struct {
	// Pod is the pod of the current run of an Activity; nil if there is none.
	Pod *corev1.Pod
	// Begin is what the run of an Activity needs to start; nil if the run has had a pod already or must not get one.
	Begin *Start
	// Host is the state of the host; nil if its node was not read.
	Host *Host
}

// Verdict is the state of a run of an Activity, with its explanation and the next steps.
type Verdict struct {
	State           egov1.State
	Reason, Message string
	// Result is the result that the agent in the pod reported; nil if there is none.
	Result *hostjob.Result
	// Withdraw is true if the pod must be deleted, because the run of an Activity was cancelled or its start deadline
	// has passed.
	Withdraw bool
	// Again is the time until the next check; 0 to wait for the next event.
	Again time.Duration
}

// Judge determines the state of the current run of an Activity from its pod and host.
func Judge(a *egov1.Activity, f Observed, now time.Time) Verdict {
	switch {
	case Over(a) && !Corrects(a, f.Pod):
		return Verdict{State: a.Status.Prosta}
	case f.Pod == nil && a.Status.Run == Number(a) && a.Status.PodUID != "":
		return Verdict{State: egov1.StateUnknown, Reason: egov1.ReasonLost,
			Message: "the pod no longer exists, so the result of the run is lost; opcrew runs the command again only if spec.run is increased"}
	case f.Pod == nil:
		return withoutPod(a, f, now)
	case Ended(f.Pod):
		return outcome(a, f)
	default:
		return withPod(a, f, now)
	}
}

// Corrects reports whether a run of an Activity that was reported as unreachable has a result after all, because its
// host responds again and its pod has ended.
func Corrects(a *egov1.Activity, pod *corev1.Pod) bool {
	if a.Status.Prosta != egov1.StateUnreachable || pod == nil || !Ended(pod) {
		return false
	}
	result := ResultOf(pod)
	return result != nil && result.Reason != hostjob.ReasonNoConnect
}

// withoutPod determines the state of a run of an Activity that has no pod.
func withoutPod(a *egov1.Activity, f Observed, now time.Time) Verdict {
	left := StartDeadline(a).Sub(now)
	switch {
	case a.Spec.Cancel:
		return Verdict{State: egov1.StateCancelled, Reason: egov1.ReasonCancelled, Message: "the run was cancelled before the command started"}
	case f.Begin != nil && f.Begin.Obstacle != nil && f.Begin.Obstacle.Final:
		return refused(f.Begin.Obstacle)
	case left <= 0 && (f.Begin == nil || f.Begin.Obstacle == nil):
		return tooLate(a, egov1.ReasonNotStarted, "the pod could not be created")
	case f.Begin == nil || f.Begin.Obstacle == nil:
		return Verdict{State: egov1.StatePending, Reason: egov1.ReasonWaiting, Message: "opcrew is creating the pod", Again: left}
	case left <= 0:
		return tooLate(a, f.Begin.Obstacle.Reason, f.Begin.Obstacle.Message)
	default:
		o := f.Begin.Obstacle
		return Verdict{State: egov1.StatePending, Reason: o.Reason, Message: o.Message, Again: min(left, ObstacleInterval)}
	}
}

// refused ends a run of an Activity that can never start, because of an obstacle such as a missing right.
func refused(o *Obstacle) Verdict {
	state := egov1.StateRefused
	if o.Reason == egov1.ReasonNotStarted {
		state = egov1.StateFailed
	}
	return Verdict{State: state, Reason: o.Reason, Message: o.Message}
}

// tooLate ends a run of an Activity that did not start before its deadline.
func tooLate(a *egov1.Activity, reason, why string) Verdict {
	state := egov1.StateUnreachable
	if slices.Contains([]string{egov1.ReasonSecretMissing, egov1.ReasonPolicyMissing, egov1.ReasonNotStarted}, reason) {
		state = egov1.StateFailed
	}
	return Verdict{State: state, Reason: reason, Message: fmt.Sprintf("the command did not start within %d s: %s", Deadline(a), why)}
}

// withPod determines the state of a run of an Activity whose pod has not ended.
func withPod(a *egov1.Activity, f Observed, now time.Time) Verdict {
	pod, left := f.Pod, StartDeadline(a).Sub(now)
	again := nextLook(pod, left, now)
	switch {
	case begun(pod) && !hostReachable(pod):
		return Verdict{State: egov1.StateRunning, Reason: egov1.ReasonHostUnreachable, Withdraw: a.Spec.Cancel,
			Message: unreachable(a, f) + "; the state of the command is unknown until it responds"}
	case left <= 0 && !begun(pod):
		v := tooLate(a, egov1.ReasonHostUnreachable, whyNot(a, f))
		v.Withdraw = true
		return v
	case a.Spec.Cancel && !begun(pod):
		return Verdict{State: egov1.StatePending, Reason: egov1.ReasonCancelled, Message: "the run is being cancelled before the command starts", Withdraw: true, Again: again}
	case a.Spec.Cancel:
		return Verdict{State: egov1.StateRunning, Reason: egov1.ReasonCancelled, Message: fmt.Sprintf("the processes of the command are being ended, within at most %d s", Grace(a)), Withdraw: true}
	case begun(pod):
		return Verdict{State: egov1.StateRunning, Reason: egov1.ReasonRunning, Message: runs(a)}
	case pod.DeletionTimestamp != nil:
		return Verdict{State: egov1.StatePending, Reason: egov1.ReasonWaiting, Message: "the pod was deleted before the command started", Again: again}
	default:
		return Verdict{State: egov1.StatePending, Reason: egov1.ReasonWaiting, Message: whyNot(a, f), Again: again}
	}
}

// Deadline returns the number of seconds in which the command must start.
func Deadline(a *egov1.Activity) int64 {
	return ptr.Deref(a.Spec.StartDeadlineSeconds, egov1.DefaultStartDeadline)
}

// StartDeadline returns when the command must have started. For a run of an Activity after the first, the time counts
// from the moment when the status recorded the run.
func StartDeadline(a *egov1.Activity) time.Time {
	since := a.CreationTimestamp.Time
	if a.Status.RunSince != nil && a.Status.Run == Number(a) {
		since = a.Status.RunSince.Time
	}
	return since.Add(Seconds(Deadline(a)))
}

// runs describes a run whose pod has started. Over SSH, the pod may still be connecting.
func runs(a *egov1.Activity) string {
	if OverSSH(a) {
		return fmt.Sprintf("opcrew connects to %s (%s) over SSH, and runs the command there", a.Spec.Host, a.Spec.SSH.Address)
	}
	return "the command is running on " + a.Spec.Host
}

// unreachable describes a host that does not respond, with the reason from its Node.
func unreachable(a *egov1.Activity, f Observed) string {
	what := "the host does not respond"
	if OverSSH(a) {
		what = "the node from which opcrew runs the command does not respond"
	}
	if why := f.Host.Problem(NodeOf(a, f.Pod)); why != "" {
		return what + " (" + why + ")"
	}
	return what
}

// whyNot returns why a pod has not started. If the host is dead or joins a NodePool, whyNot reports that, even if the
// scheduler reports the taints of the node instead.
func whyNot(a *egov1.Activity, f Observed) string {
	why, _ := workload.WhyNotReady(f.Pod)
	return "the pod has not started: " + cmp.Or(f.Host.Problem(NodeOf(a, f.Pod)), f.Host.keepsOut(f.Pod), why)
}
