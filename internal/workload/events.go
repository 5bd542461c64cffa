// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strings"
	"time"

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

// LastEvent gives the words of the last event of an object that has a reason and was seen after a time (the zero time:
// ever), or nothing. Both are known in seconds, so that one of the same second may be older and is left out.
// Events are read live, so call it only while something is missing that they may explain.
func LastEvent(ctx context.Context, live client.Reader, owner client.Object, reason string, after time.Time) (string, error) {
	events := &corev1.EventList{}
	selector := fields.Set{"involvedObject.uid": string(owner.GetUID()), "reason": reason}.AsSelector()
	if err := live.List(ctx, events, client.InNamespace(owner.GetNamespace()), client.MatchingFieldsSelector{Selector: selector}); err != nil {
		return "", fmt.Errorf("events of %s: %w", owner.GetName(), err)
	}
	var last *corev1.Event
	for i := range events.Items {
		e := &events.Items[i]
		if !after.IsZero() && !e.LastTimestamp.After(after) || strings.HasSuffix(e.Message, conflict) {
			continue
		}
		if last == nil || last.LastTimestamp.Before(&e.LastTimestamp) {
			last = e
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Message, nil
}
