// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// attachWait is how long a pod may wait for its volumes before anybody is asked why. A
	// volume whose node died is taken off it after some six minutes.
	attachWait = 30 * time.Second
	// attachReason is that of events about a volume that is at another node yet.
	attachReason = "FailedAttachVolume"
)

// attachment is what a pod waits for that has a node, and has not begun.
type attachment struct {
	pod, words string
	again      time.Duration
}

// observeAttachment asks why the first pod that has a node for long has not begun. Only
// events tell that its volume is at another node. What cannot be read is unknown.
func (r *reconciler) observeAttachment(ctx context.Context, _ *opsv1.Diva, f *facts) error {
	for _, pod := range slices.Concat(f.boundClients(), f.boundManagers()) {
		if !waits(pod) {
			continue
		}
		age := f.now.Sub(pod.CreationTimestamp.Time)
		if age < attachWait {
			f.attachment.again = shortest(f.attachment.again, attachWait-age)
			continue
		}
		words, _ := workload.LastEvent(ctx, r.Live, pod, attachReason, time.Time{})
		f.attachment = attachment{pod.Name, words, min(age, time.Minute)}
		return nil
	}
	return nil
}

// waits reports whether none of a pod's containers has ever been started, and the pod itself
// does not tell why: an image that cannot be pulled asks for no events.
func waits(pod *corev1.Pod) bool {
	why, stuck := workload.WhyNotReady(pod)
	return why != "" && !stuck && !slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil || s.RestartCount > 0
	})
}

// reportAttachment names the volume that a pod waits for where it seemed to be on its way.
func (f facts) reportAttachment(set condition.Set) {
	if f.attachment.words == "" {
		return
	}
	kind := opsv1.DivaManagerReady
	if f.clients.Pods[f.attachment.pod] != nil {
		kind = opsv1.DivaClientsReady
	}
	c := cmp.Or(meta.FindStatusCondition(*set.Conditions, kind), &metav1.Condition{})
	if c.Reason == common.ReasonUpdating {
		text, _, _ := strings.Cut(c.Message, "; ") // what follows says that it is starting
		set.False(kind, common.ReasonPodsNotReady, text+"; "+f.attachment.pod+": "+f.attachment.words)
	}
}
