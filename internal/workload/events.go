// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failedCreate is the reason of events with the words with which the API server refused a
// pod of a StatefulSet or ReplicaSet: a quota, an admission rule.
const failedCreate = "FailedCreate"

// conflict is what the API server says to a controller that was a moment late (OptimisticLockErrorMsg
// of its registry). It tries again at once, so that nothing is explained by it.
const conflict = "the object has been modified; please apply your changes to the latest version and try again"

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
		e := &events.Items[i]
		if !strings.HasSuffix(e.Message, conflict) && (last == nil || last.LastTimestamp.Before(&e.LastTimestamp)) {
			last = e
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Message, nil
}
