// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/internal/workload"
)

// verdict is what is known of a run.
type verdict struct {
	state           egov1.State
	reason, message string
	// result is what the runner told, nil if it told nothing.
	result *hostjob.Result
	// withdraw has the pod deleted: it is cancelled, or its time to begin is up.
	withdraw bool
	// again is when to look again, 0: when something happens.
	again time.Duration
}

// judge says what is known of the present run.
func judge(a *egov1.Activity, f facts, now time.Time) verdict {
	switch {
	case over(a) && !corrects(a, f):
		return verdict{state: a.Status.Prosta}
	case f.pod == nil && a.Status.Run == run(a) && a.Status.PodUID != "":
		return verdict{state: egov1.StateUnknown, reason: egov1.ReasonLost,
			message: "its pod is gone and nobody read how the command ended; it is not run again unless spec.run is raised"}
	case f.pod == nil:
		return unborn(a, f, now)
	case ended(f.pod):
		return outcome(a, f)
	default:
		return alive(a, f, now)
	}
}

// corrects reports whether a host that was given up has answered after all.
func corrects(a *egov1.Activity, f facts) bool {
	return a.Status.Prosta == egov1.StateUnreachable && f.pod != nil && ended(f.pod) && told(f.pod) != nil
}

// unborn is a run that has no pod.
func unborn(a *egov1.Activity, f facts, now time.Time) verdict {
	left := startDeadline(a).Sub(now)
	switch {
	case a.Spec.Cancel:
		return verdict{state: egov1.StateCancelled, reason: egov1.ReasonCancelled, message: "cancelled before it began"}
	case f.begin != nil && f.begin.obstacle != nil && f.begin.obstacle.final:
		return refused(f.begin.obstacle)
	case left <= 0 && (f.begin == nil || f.begin.obstacle == nil):
		return tooLate(a, egov1.ReasonNotStarted, "its pod could not be made")
	case f.begin == nil || f.begin.obstacle == nil:
		return verdict{state: egov1.StatePending, reason: egov1.ReasonWaiting, message: "its pod is being made", again: left}
	case left <= 0:
		return tooLate(a, f.begin.obstacle.reason, f.begin.obstacle.message)
	default:
		o := f.begin.obstacle
		return verdict{state: egov1.StatePending, reason: o.reason, message: o.message, again: min(left, obstacleInterval)}
	}
}

// refused is a run that will not begin, whatever is waited for.
func refused(o *obstacle) verdict {
	state := egov1.StateRefused
	if o.reason == egov1.ReasonNotStarted {
		state = egov1.StateFailed
	}
	return verdict{state: state, reason: o.reason, message: o.message}
}

// tooLate is a run that did not begin in time.
func tooLate(a *egov1.Activity, reason, why string) verdict {
	state := egov1.StateUnreachable
	if slices.Contains([]string{egov1.ReasonSecretMissing, egov1.ReasonPolicyMissing, egov1.ReasonNotStarted}, reason) {
		state = egov1.StateFailed
	}
	return verdict{state: state, reason: reason, message: fmt.Sprintf("it did not begin within %d s: %s", deadline(a), why)}
}

// alive is a run whose pod has not ended.
func alive(a *egov1.Activity, f facts, now time.Time) verdict {
	pod, left := f.pod, startDeadline(a).Sub(now)
	again := lookAgain(pod, left, now)
	switch {
	case begun(pod) && !hostAnswers(pod):
		return verdict{state: egov1.StateRunning, reason: egov1.ReasonHostUnreachable, withdraw: a.Spec.Cancel,
			message: silent(a, f) + "; how the command fares is not known until it does"}
	case left <= 0 && !begun(pod):
		v := tooLate(a, egov1.ReasonHostUnreachable, whyNot(a, f))
		v.withdraw = true
		return v
	case a.Spec.Cancel && !begun(pod):
		return verdict{state: egov1.StatePending, reason: egov1.ReasonCancelled, message: "it is being cancelled before it began", withdraw: true, again: again}
	case a.Spec.Cancel:
		return verdict{state: egov1.StateRunning, reason: egov1.ReasonCancelled, message: fmt.Sprintf("its processes are being ended, within %d s", grace(a)), withdraw: true}
	case begun(pod):
		return verdict{state: egov1.StateRunning, reason: egov1.ReasonRunning, message: "it runs on " + a.Spec.Host}
	case pod.DeletionTimestamp != nil:
		return verdict{state: egov1.StatePending, reason: egov1.ReasonWaiting, message: "its pod was deleted before it began", again: again}
	default:
		return verdict{state: egov1.StatePending, reason: egov1.ReasonWaiting, message: whyNot(a, f), again: again}
	}
}

func deadline(a *egov1.Activity) int64 {
	return ptr.Deref(a.Spec.StartDeadlineSeconds, egov1.DefaultStartDeadline)
}

// startDeadline is when the host must have begun. A further run counts from when it was
// written down.
func startDeadline(a *egov1.Activity) time.Time {
	since := a.CreationTimestamp.Time
	if a.Status.RunSince != nil && a.Status.Run == run(a) {
		since = a.Status.RunSince.Time
	}
	return since.Add(seconds(deadline(a)))
}

// silent reports a host that does not answer, with what the cluster knows of it.
func silent(a *egov1.Activity, f facts) string {
	if why := f.host.down(a.Spec.Host); why != "" {
		return "the host does not answer (" + why + ")"
	}
	return "the host does not answer"
}

// whyNot says why a pod has not begun, in the words of anyone who knows. A dead host is why,
// whatever the scheduler makes of its taints.
func whyNot(a *egov1.Activity, f facts) string {
	why, _ := workload.WhyNotReady(f.pod)
	return "its pod has not begun: " + cmp.Or(f.host.down(a.Spec.Host), why)
}
