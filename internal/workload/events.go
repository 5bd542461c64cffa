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

// FailedCreate gives the words with which the API server refused the last pod of a
// StatefulSet or ReplicaSet (a quota, an admission rule), or nothing. Only its events
// have them. They are read live, so call it only while pods are missing.
func FailedCreate(ctx context.Context, live client.Reader, owner client.Object) (string, error) {
	events := &corev1.EventList{}
	selector := fields.Set{"involvedObject.uid": string(owner.GetUID()), "reason": "FailedCreate"}.AsSelector()
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
