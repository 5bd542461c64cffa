// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

const (
	// Namespace is the namespace of the pods. Users who may exec into them are root on nodes.
	Namespace = "opcrew-activities"
	// Finalizer keeps an Activity until its pod is gone, or cannot be waited for.
	Finalizer = "opcrew.io/activity"
	// ResultFinalizer keeps a pod until its result is in the status of the Activity.
	ResultFinalizer = "opcrew.io/result"
	// ActivityAnnotation holds the namespace and name of a pod's Activity.
	ActivityAnnotation = "opcrew.io/activity"
	// OrderAnnotation holds the order that a pod's agent carries out.
	OrderAnnotation = "opcrew.io/order"
	// BootAnnotation holds the boot ID of a pod's host when the pod was created.
	BootAnnotation = "opcrew.io/boot"
	// RunLabel holds the run number of a pod.
	RunLabel = "opcrew.io/run"
	// Container is the name of the container that runs the command.
	Container = "run"
)

// Number returns the number of the current run.
func Number(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.Run, 1) }

// Scheduled reports whether the Activity is a schedule, and not a single run.
func Scheduled(a *egov1.Activity) bool { return a.Spec.Schedule != nil }

// PodName returns a name that depends only on the Activity and the run, so that two operators create a single pod.
func PodName(a *egov1.Activity, run int64) string { return fmt.Sprintf("activity-%s-%d", a.UID, run) }

// PodKey returns the key of the current run's pod.
func PodKey(a *egov1.Activity) client.ObjectKey {
	return client.ObjectKey{Namespace: Namespace, Name: PodName(a, Number(a))}
}

// User returns the host user that runs the command.
func User(a *egov1.Activity) string { return orElse(a.Spec.ExecUser, egov1.DefaultUser) }

// Directory returns the host directory in which the command runs.
func Directory(a *egov1.Activity) string { return orElse(a.Spec.ExecCwd, egov1.DefaultDir) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Grace returns the seconds between asking the command to end and killing it.
func Grace(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.GraceSeconds, egov1.DefaultGrace) }

// Seconds converts a number of seconds in a spec.
func Seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// ends are the final states. Only a new run follows them.
var ends = []egov1.State{
	egov1.StateSucceeded, egov1.StateFailed, egov1.StateCancelled, egov1.StateTimedOut,
	egov1.StateUnreachable, egov1.StateUnknown, egov1.StateRefused,
}

// Over reports whether the status records the end of the current run.
func Over(a *egov1.Activity) bool {
	return a.Status.Run == Number(a) && slices.Contains(ends, a.Status.Prosta)
}
