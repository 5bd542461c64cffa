// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failedCreate is the reason of events with the words with which the API server refused a
// pod of a StatefulSet or ReplicaSet: a quota, an admission rule.
const failedCreate = "FailedCreate"

// LastEvent gives the words of the last event of an object that has a reason, or nothing.
// Events are read live, so call it only while something is missing that they may explain.
func LastEvent(ctx context.Context, live client.Reader, owner client.Object, reason string) (string, error) {
	events := &corev1.EventList{}
	selector := fields.Set{"involvedObject.uid": string(owner.GetUID()), "reason": reason}.AsSelector()
	if err := live.List(ctx, events, client.InNamespace(owner.GetNamespace()), client.MatchingFieldsSelector{Selector: selector}); err != nil {
		return "", fmt.Errorf("events of %s: %w", owner.GetName(), err)
	}
	var last *corev1.Event
	for i := range events.Items {
		if e := &events.Items[i]; last == nil || last.LastTimestamp.Before(&e.LastTimestamp) {
			last = e
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Message, nil
}
