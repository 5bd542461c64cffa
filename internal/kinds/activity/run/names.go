// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

const (
	// Namespace is the namespace of the pods that run commands. Users who may exec into these pods are root on nodes.
	Namespace = "opcrew-activities"
	// Finalizer keeps a deleted Activity until its pod has ended or its host has stopped responding.
	Finalizer = "opcrew.io/activity"
	// ResultFinalizer keeps a pod until its result is in the status of the Activity.
	ResultFinalizer = "opcrew.io/result"
	// ActivityAnnotation is an annotation on pods with the namespace and name of the Activity to which the pod belongs.
	ActivityAnnotation = "opcrew.io/activity"
	// OrderAnnotation holds the order for the agent in a pod: the command and its parameters.
	OrderAnnotation = "opcrew.io/order"
	// BootAnnotation holds the boot ID that the host had when the pod was created.
	BootAnnotation = "opcrew.io/boot"
	// RunLabel is a label on pods with the number of the run of their Activity.
	RunLabel = "opcrew.io/run"
	// Container is the name of the container that runs the command.
	Container = "run"
)

// Number returns the number of the current run of an Activity (spec.run, 1 by default).
func Number(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.Run, 1) }

// Scheduled reports whether the Activity is a schedule and not a single run.
func Scheduled(a *egov1.Activity) bool { return a.Spec.Schedule != nil }

// OverSSH reports whether the host of an Activity is outside the cluster, and is reached over SSH.
func OverSSH(a *egov1.Activity) bool { return a.Spec.SSH != nil }

// NodeOf returns the name of the node on which the pod of an Activity runs or must run. Empty if that is not known yet.
func NodeOf(a *egov1.Activity, pod *corev1.Pod) string {
	switch {
	case !OverSSH(a):
		return a.Spec.Host
	case pod != nil:
		return pod.Spec.NodeName
	}
	return ""
}

// PodName returns the name of the pod of a run. It depends only on the Activity and the run, so that two operators
// create only one pod.
func PodName(a *egov1.Activity, run int64) string { return fmt.Sprintf("activity-%s-%d", a.UID, run) }

// PodKey returns the namespace and name of the pod of the current run.
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

// Grace returns how many seconds a command gets to end by itself before it is killed.
func Grace(a *egov1.Activity) int64 { return ptr.Deref(a.Spec.GraceSeconds, egov1.DefaultGrace) }

// Seconds converts a number of seconds to a duration.
func Seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// ends lists the states in which a run of an Activity has ended. opcrew runs the command again only if the user
// requests a new run.
var ends = []egov1.State{
	egov1.StateSucceeded, egov1.StateFailed, egov1.StateCancelled, egov1.StateTimedOut,
	egov1.StateUnreachable, egov1.StateUnknown, egov1.StateRefused,
}

// Over reports whether the status records the end of the current run of an Activity.
func Over(a *egov1.Activity) bool {
	return a.Status.Run == Number(a) && slices.Contains(ends, a.Status.Prosta)
}
