// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

const elsewhere = `Multi-Attach error for volume "pv-1": it is at node2`

// events returns a reconciler whose API server has one event, which concerns the given pod.
func events(of, reason string) *reconciler {
	event := &corev1.Event{Reason: reason, Message: elsewhere}
	event.Namespace, event.Name = "shop", "event"
	event.InvolvedObject.UID = newPod(of, "").UID
	by := func(read func(*corev1.Event) string) client.IndexerFunc {
		return func(o client.Object) []string { return []string{read(o.(*corev1.Event))} }
	}
	return &reconciler{Tools: &kit.Tools{Live: fake.NewClientBuilder().WithObjects(event).
		WithIndex(event, "involvedObject.uid", by(func(e *corev1.Event) string { return string(e.InvolvedObject.UID) })).
		WithIndex(event, "reason", by(func(e *corev1.Event) string { return e.Reason })).Build()}}
}

// waitingFor makes a pod look as if it had waited for its volumes for the given time.
func waitingFor(pod *corev1.Pod, age time.Duration) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{
		{Name: "ops", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
	}}
	pod.CreationTimestamp = metav1.NewTime(noon.Add(-age))
}

func TestAVolumeThatIsAtAnotherNodeIsNamed(t *testing.T) {
	client := func(age time.Duration) factOption {
		return func(f *facts) { waitingFor(f.clients.Pods["ops-client-1"], age) }
	}
	manager := func(f *facts) {
		waitingFor(&f.manager.Pods[0], time.Hour)
		f.manager.Deployment.Status.AvailableReplicas = 0
	}
	begun := func(f *facts) {
		f.clients.Pods["ops-client-1"].Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	unpulled := func(f *facts) {
		f.clients.Pods["ops-client-1"].Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}
	}
	for what, test := range map[string]struct {
		r       *reconciler
		options []factOption
		kind    string
		want    string
		again   time.Duration
	}{
		"of a client":                 {events("ops-client-1", attachReason), []factOption{client(40 * time.Second)}, opsv1.DivaClientsReady, "False PodsNotReady: 1 of 2 clients are ready; pod ops-client-1 waits for a volume: " + elsewhere, 40 * time.Second},
		"of the manager":              {events("ops-manager-0", attachReason), []factOption{manager}, opsv1.DivaManagerReady, "False PodsNotReady: 0 of 1 pods are ready; pod ops-manager-0 waits for a volume: " + elsewhere, time.Minute},
		"not at once":                 {events("ops-client-1", attachReason), []factOption{client(time.Second)}, opsv1.DivaClientsReady, "False Updating: 1 of 2 clients are ready; ops-client-1: the pod is starting", 29 * time.Second},
		"not of one that has begun":   {events("ops-client-1", attachReason), []factOption{client(time.Hour), begun}, opsv1.DivaClientsReady, "False Updating: 1 of 2 clients are ready; ops-client-1: the pod is starting", 0},
		"not of one that reports why": {events("ops-client-1", attachReason), []factOption{client(time.Hour), unpulled}, opsv1.DivaClientsReady, "False PodsNotReady: 1 of 2 clients are ready; ops-client-1: container ops: ErrImagePull: not found", 0},
		"not of another event":        {events("ops-client-1", "Pulling"), []factOption{client(time.Hour)}, opsv1.DivaClientsReady, "False Updating: 1 of 2 clients are ready; ops-client-1: the pod is starting", time.Minute},
		"not where nothing can tell":  {blind(), []factOption{client(time.Hour)}, opsv1.DivaClientsReady, "False Updating: 1 of 2 clients are ready; ops-client-1: the pod is starting", time.Minute},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(2)
			f := observed(t, d, settled(t), test.options...)
			if err := test.r.observeAttachment(t.Context(), d, &f); err != nil {
				t.Fatal(err)
			}
			same(t, "the condition", test.want, conditionOf(reported(d, f, done), test.kind))
			same(t, "the next look", test.again, planned(d, f).Again)
		})
	}
}
