// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// provisioningFailed is the reason of events of a claim that has no volume: its class does not exist, or anyone who
// makes volumes cannot.
const provisioningFailed = "ProvisioningFailed"

// Unbound finds out why pods cannot be placed whose claims have no volume. The scheduler only says that they have
// none.
type Unbound struct{ refusals Refusals }

// NewUnbound reads events from the API server itself.
func NewUnbound(live client.Reader, clock clock.PassiveClock) *Unbound {
	return &Unbound{Refusals{Live: live, Clock: clock, Reason: provisioningFailed}}
}

// Lack is what is known of a pod whose claim has no volume: why, or "" if no one has said, and when to look again.
type Lack struct {
	Pod string
	Refusal
}

// Why reports the first of the pods that waits for a volume which cannot be made; claimOf gives the claim of one,
// nil if it has none, or none yet. known reports that it was reported so last. Of more than one object, keys differ.
func (u *Unbound) Why(ctx context.Context, key client.ObjectKey, pods []*corev1.Pod, claimOf func(*corev1.Pod) *corev1.PersistentVolumeClaim, known bool) Lack {
	for _, pod := range pods {
		if pod == nil || pod.DeletionTimestamp != nil || podCondition(pod, corev1.PodScheduled).Status != corev1.ConditionFalse {
			continue
		}
		claim := claimOf(pod)
		if claim == nil || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
			continue
		}
		refusal := u.refusals.Why(ctx, key, claim, known)
		if refusal.Words != "" {
			refusal.Words = fmt.Sprintf("its claim %s has no volume: %s", claim.Name, refusal.Words)
		}
		return Lack{pod.Name, refusal}
	}
	u.Forget(key)
	return Lack{}
}

// Forget drops what is known of an object that is gone.
func (u *Unbound) Forget(key client.ObjectKey) { u.refusals.Forget(key) }
