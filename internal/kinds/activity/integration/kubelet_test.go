// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// kubelet ends the commands of the simulated hosts of a test, with a result for each host. It also observes, with its
// own watch, on which hosts commands run at the same time.
type kubelet struct {
	*site
	result func(host string) string
	took   time.Duration

	mu     sync.Mutex
	pods   map[string]int  // number of pods that each host has had
	active map[string]bool // hosts with a pod that has not ended
	most   int             // largest number of active hosts at one time
	seen   map[string]bool // UIDs of pods
}

// kubelet starts to end the commands of the hosts: each command runs for some time, and then ends with the result that
// the function returns for its host.
func (s *site) kubelet(took time.Duration, result func(host string) string) *kubelet {
	s.Helper()
	k := &kubelet{site: s, result: result, took: took, pods: map[string]int{}, active: map[string]bool{}, seen: map[string]bool{}}
	go k.work(s.Context())
	return k
}

// work watches the pods until the test ends. A busy API server may close a watch; the next one then begins with all
// pods.
func (k *kubelet) work(ctx context.Context) {
	for ctx.Err() == nil {
		w, err := env.Client.Watch(ctx, &corev1.PodList{}, client.InNamespace(run.Namespace))
		if err != nil {
			continue
		}
		for e := range w.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok {
				k.observe(pod)
			}
		}
		w.Stop()
	}
}

func (k *kubelet) observe(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	host := pod.Spec.NodeName
	if host == "" {
		return // the scheduler has not placed it
	}
	if !k.seen[string(pod.UID)] {
		k.seen[string(pod.UID)] = true
		k.pods[host]++
	}
	k.active[host] = pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
	k.most = max(k.most, k.busy())
	if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && k.result(host) != "" {
		go k.end(k.Context(), pod.DeepCopy())
	}
}

func (k *kubelet) busy() int {
	n := 0
	for _, active := range k.active {
		if active {
			n++
		}
	}
	return n
}

func (k *kubelet) end(ctx context.Context, pod *corev1.Pod) {
	time.Sleep(k.took)
	before := pod.DeepCopy()
	now := pod.Status.StartTime
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "run", Image: "agent", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: *now, FinishedAt: *now, Message: k.result(pod.Spec.NodeName)},
	}}}
	_ = env.Client.Status().Patch(ctx, pod, client.MergeFrom(before)) // the pod may be gone
}

// ran returns an error unless every host had exactly one pod, and at most so many at the same time.
func (k *kubelet) ran(hosts, atOnce int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for host, n := range k.pods {
		if n > 1 {
			return fmt.Errorf("host %s has run the command %d times", host, n)
		}
	}
	if len(k.pods) != hosts || k.most > atOnce {
		return fmt.Errorf("the command ran on %d hosts, on %d at the same time", len(k.pods), k.most)
	}
	return nil
}

const (
	succeeds = `{"state":"Succeeded","reason":"Exited","exitCode":0,"tail":"upgraded"}`
	diskFull = `{"state":"Failed","reason":"Exited","exitCode":28,"tail":"write error: No space left on device"}`
	goesOn   = ""
)
