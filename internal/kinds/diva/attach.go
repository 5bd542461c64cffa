// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// attachWait is how long a pod may wait for its volumes before opcrew reads the events of the pod. Kubernetes takes
	// about six minutes to detach a volume from a dead node.
	attachWait = 30 * time.Second
	// attachReason is the reason of events about a volume that is still attached to another node.
	attachReason = "FailedAttachVolume"
)

// observeAttachment finds the first pod that has been on a node for longer than attachWait without starting, and reads
// the events of the pod. Only an event shows that a volume is still attached to another node. If events cannot be read,
// the cause stays unknown.
func (r *reconciler) observeAttachment(ctx context.Context, _ *opsv1.Diva, f *facts) error {
	for _, pod := range slices.Concat(boundClients(f.clients), boundManagers(f.manager)) {
		if !waits(pod) {
			continue
		}
		age := f.now.Sub(pod.CreationTimestamp.Time)
		if age < attachWait {
			f.attachment.again = soonest(f.attachment.again, attachWait-age)
			continue
		}
		words, _ := workload.LastEvent(ctx, r.Live, pod, attachReason, time.Time{})
		f.attachment = attachment{pod.Name, words, min(age, time.Minute)}
		return nil
	}
	return nil
}

// waits reports whether no container of a pod has ever started and the pod's status does not explain this. A failed
// image pull, for example, is visible in the status.
func waits(pod *corev1.Pod) bool {
	why, stuck := workload.WhyNotReady(pod)
	return why != "" && !stuck && !slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil || s.RestartCount > 0
	})
}

// reportAttachment replaces the message that a pod is starting with a message that names the volume for which the pod
// waits.
func reportAttachment(set condition.Set, d *opsv1.Diva, f facts) {
	if f.attachment.words == "" {
		return
	}
	kind, noun, ready, all := opsv1.DivaManagerReady, "pods", f.manager.Ready(), f.manager.Replicas()
	if f.clients.Pods[f.attachment.pod] != nil {
		all = f.clients.Replicas()
		kind, noun, ready = opsv1.DivaClientsReady, "clients", f.clients.Ready(names.Clients(d).Names(all))
	}
	if c := meta.FindStatusCondition(*set.Conditions, kind); c != nil && c.Reason == common.ReasonUpdating {
		set.False(kind, common.ReasonPodsNotReady, fmt.Sprintf("%d of %d %s are ready; pod %s waits for a volume: %s", ready, all, noun, f.attachment.pod, f.attachment.words))
	}
}
