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
	// Namespace is where the pods run: users who may enter them are root on nodes.
	Namespace = "opcrew-activities"
	// Finalizer holds an Activity until its pod is gone, or cannot be waited for.
	Finalizer = "opcrew.io/activity"
	// ResultFinalizer holds a pod until its result is in the status of the Activity.
	ResultFinalizer = "opcrew.io/result"
	// ActivityAnnotation of a pod names its Activity, OrderAnnotation holds its order.
	ActivityAnnotation = "opcrew.io/activity"
	// OrderAnnotation of a pod holds the order that its agent carries out.
	OrderAnnotation = "opcrew.io/order"
	// BootAnnotation of a pod is the boot ID of its host when the pod was created.
	BootAnnotation = "opcrew.io/boot"
	// RunLabel of a pod is the number of the run.
	RunLabel = "opcrew.io/run"
	// Container is the name of the container that runs the command.
	Container = "run"
)

// Number returns the number of the present run.
func Number(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.Run, 1) }

// Scheduled reports whether the Activity runs by a schedule, and not once.
func Scheduled(a *egov1.Activity) bool { return a.Spec.Schedule != nil }

// PodName depends only on the Activity and the run: two operators at once create one pod.
func PodName(a *egov1.Activity, run int64) string { return fmt.Sprintf("activity-%s-%d", a.UID, run) }

// PodKey is the name of the pod of the present run.
func PodKey(a *egov1.Activity) client.ObjectKey {
	return client.ObjectKey{Namespace: Namespace, Name: PodName(a, Number(a))}
}

// User is the user of the host that runs the command.
func User(a *egov1.Activity) string { return orElse(a.Spec.ExecUser, egov1.DefaultUser) }

// Directory is the directory of the host in which the command runs.
func Directory(a *egov1.Activity) string { return orElse(a.Spec.ExecCwd, egov1.DefaultDir) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Grace is the time in seconds between asking the command to end and killing it.
func Grace(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.GraceSeconds, egov1.DefaultGrace) }

// Seconds converts a number of seconds of a spec.
func Seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// ends are the final states; only a new run follows them.
var ends = []egov1.State{
	egov1.StateSucceeded, egov1.StateFailed, egov1.StateCancelled, egov1.StateTimedOut,
	egov1.StateUnreachable, egov1.StateUnknown, egov1.StateRefused,
}

// Over reports whether the status records the end of the present run.
func Over(a *egov1.Activity) bool {
	return a.Status.Run == Number(a) && slices.Contains(ends, a.Status.Prosta)
}
