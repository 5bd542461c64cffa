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

// provisioningFailed is the reason of events about a claim without a volume, because its StorageClass does not exist or
// its provisioner failed.
const provisioningFailed = "ProvisioningFailed"

// Unbound finds out why claims of pods have no volume. The scheduler only reports that they have none.
type Unbound struct{ refusals Refusals }

// NewUnbound returns an Unbound that reads events directly from the API server.
func NewUnbound(live client.Reader, clock clock.PassiveClock) *Unbound {
	return &Unbound{Refusals{Live: live, Clock: clock, Reason: provisioningFailed}}
}

// UnboundCause explains why a pod waits for a volume. The field Words has the reason; "" if it is unknown. The field
// Again is how long to wait before calling Why again.
type UnboundCause struct {
	Pod string
	Refusal
}

// Why finds the first pod that waits for a volume which cannot be provisioned. claimOf returns the claim of a pod; nil
// if it has none. known is true if the status already reports this cause. Callers must use a different key for each
// object.
func (u *Unbound) Why(ctx context.Context, key client.ObjectKey, pods []*corev1.Pod, claimOf func(*corev1.Pod) *corev1.PersistentVolumeClaim, known bool) UnboundCause {
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
			refusal.Words = fmt.Sprintf("claim %s has no volume: %s", claim.Name, refusal.Words)
		}
		return UnboundCause{pod.Name, refusal}
	}
	u.Forget(key)
	return UnboundCause{}
}

// Forget deletes what is known about an object that is gone.
func (u *Unbound) Forget(key client.ObjectKey) { u.refusals.Forget(key) }
