// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backuppods simulates the kubelet for pods that save and verify etcd backups. It sets their status to running,
// and later to ended, with the result that cmd/opcrew-backup would report. No etcd and no store is involved.
package backuppods

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Labels and annotations of backup pods. They must be the same as in package etcdbackup.
const (
	TaskLabel       = "etcd.opcrew.io/task"
	DueLabel        = "etcd.opcrew.io/due"
	AttemptLabel    = "etcd.opcrew.io/attempt"
	OrderAnnotation = "etcd.opcrew.io/order"
)

// Revision is the etcd revision that every simulated backup reports.
const Revision = 42

// Order returns the backup order in a pod's annotation, and the number of the attempt.
func Order(pod *corev1.Pod) (backup.Order, int, error) {
	order, err := backup.ParseOrder(pod.Annotations[OrderAnnotation])
	attempt, none := strconv.Atoi(pod.Labels[AttemptLabel])
	return order, attempt, errors.Join(err, none)
}

// Success returns a successful result for an order.
func Success(o backup.Order) backup.Result {
	now := time.Now().UTC().Truncate(time.Second)
	out := backup.Result{Outcome: backup.Succeeded, StartedAt: now, EndedAt: now}
	if o.Save != nil {
		out.Object, out.SavedAt = backup.ObjectName(o.Target.Path, Revision, o.Save.Time), now
		out.Revision, out.EtcdVersion, out.Size = Revision, "3.6.16", 20512
	}
	return out
}

// Run sets the status of a pod to running.
func Run(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}}
	return c.Status().Update(ctx, pod)
}

// End sets the status of a pod to ended, with the given result. ago is how long ago the pod ended.
func End(ctx context.Context, c client.Client, pod *corev1.Pod, ago time.Duration, result backup.Result) error {
	pod.Status.Phase = corev1.PodSucceeded
	ended := corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.NewTime(time.Now().Add(-ago)), Message: string(result.Encode())}
	if result.Outcome != backup.Succeeded {
		pod.Status.Phase, ended.Reason, ended.ExitCode = corev1.PodFailed, "Error", 1
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: &ended}}}
	return c.Status().Update(ctx, pod)
}

// Follow runs pods until the test ends. Each pod ends at once with the result that answer returns. If the result is
// nil, the pod keeps running. The recorded end is an hour ago, so that the operator does not wait before the next
// attempt.
func Follow(t testing.TB, config *rest.Config, c client.Client, answer func(o backup.Order, attempt int) *backup.Result) {
	t.Helper()
	pods, err := cache.New(config, cache.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	informer, err := pods.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	see := func(o any) { carryOut(ctx, c, o.(*corev1.Pod).DeepCopy(), answer) }
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, o any) { see(o) }}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = pods.Start(ctx) }()
}

func carryOut(ctx context.Context, c client.Client, pod *corev1.Pod, answer func(o backup.Order, attempt int) *backup.Result) {
	if pod.Labels[TaskLabel] == "" || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return
	}
	order, attempt, err := Order(pod)
	if err != nil {
		return // another client has changed the pod, so another event follows
	}
	if result := answer(order, attempt); result != nil {
		_ = End(ctx, c, pod, time.Hour, *result) // after a conflict, the next event repeats this
	}
}
