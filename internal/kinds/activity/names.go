// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

const (
	// Namespace is where the pods are: who may enter them is root on nodes.
	Namespace = "opcrew-activities"
	// finalizer holds an Activity until its pod has gone, or cannot be waited for.
	finalizer = "opcrew.io/activity"
	// resultFinalizer holds a pod until its result is in the Activity's status.
	resultFinalizer = "opcrew.io/result"
	// activityAnnotation of a pod names its Activity, orderAnnotation is what it is to do.
	activityAnnotation = "opcrew.io/activity"
	orderAnnotation    = "opcrew.io/order"
	// bootAnnotation of a pod is the boot of its host when it was made.
	bootAnnotation = "opcrew.io/boot"
	// runLabel of a pod is the number of the run.
	runLabel = "opcrew.io/run"
	// container of a pod that runs the command.
	container = "run"
)

func run(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.Run, 1) }

func scheduled(a *egov1.Activity) bool { return a.Spec.Schedule != nil }

// podName is the same for anyone who decides on it: two operators at once make one pod.
func podName(a *egov1.Activity, run int64) string { return fmt.Sprintf("activity-%s-%d", a.UID, run) }

func podKey(a *egov1.Activity) client.ObjectKey {
	return client.ObjectKey{Namespace: Namespace, Name: podName(a, run(a))}
}

func user(a *egov1.Activity) string { return orElse(a.Spec.ExecUser, egov1.DefaultUser) }

func directory(a *egov1.Activity) string { return orElse(a.Spec.ExecCwd, egov1.DefaultDir) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func grace(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.GraceSeconds, egov1.DefaultGrace) }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// ends are the states that nothing follows, a new run apart.
var ends = []egov1.State{
	egov1.StateSucceeded, egov1.StateFailed, egov1.StateCancelled, egov1.StateTimedOut,
	egov1.StateUnreachable, egov1.StateUnknown, egov1.StateRefused,
}

// over reports whether the present run has ended, as the status has it.
func over(a *egov1.Activity) bool {
	return a.Status.Run == run(a) && slices.Contains(ends, a.Status.Prosta)
}
