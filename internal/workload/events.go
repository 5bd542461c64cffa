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

// failedCreate is the reason of the events that a StatefulSet or ReplicaSet gets when the API server refuses to create
// one of its pods, for example because of a quota or an admission rule.
const failedCreate = "FailedCreate"

// conflict is the error of the API server for an outdated write (OptimisticLockErrorMsg). The controller retries at
// once, so an event with this error explains nothing.
const conflict = "the object has been modified; please apply your changes to the latest version and try again"

// LastEvent returns the message of the latest event about an object with the given reason. Unless after is zero, it
// ignores events up to that time; event times are whole seconds. It reads from the API server, so call it only while
// something is missing that events may explain.
func LastEvent(ctx context.Context, live client.Reader, owner client.Object, reason string, after time.Time) (string, error) {
	events := &corev1.EventList{}
	selector := fields.Set{"involvedObject.uid": string(owner.GetUID()), "reason": reason}.AsSelector()
	if err := live.List(ctx, events, client.InNamespace(owner.GetNamespace()), client.MatchingFieldsSelector{Selector: selector}); err != nil {
		return "", fmt.Errorf("list the events of %s: %w", owner.GetName(), err)
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
