// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// event returns an event about StatefulSet web in namespace shop. seconds is its time after the first event.
func event(uid, reason, message string, seconds int) *corev1.Event {
	e := &corev1.Event{Reason: reason, Message: message, LastTimestamp: metav1.Unix(int64(1000+seconds), 0)}
	e.Namespace, e.Name = "shop", uid+reason+message
	e.InvolvedObject.UID = types.UID(uid)
	return e
}

// reader returns a fake reader of events that supports the same field selectors as the API server.
func reader(events ...client.Object) client.Reader {
	field := func(value func(*corev1.Event) string) client.IndexerFunc {
		return func(o client.Object) []string { return []string{value(o.(*corev1.Event))} }
	}
	return fake.NewClientBuilder().WithObjects(events...).
		WithIndex(&corev1.Event{}, "involvedObject.uid", field(func(e *corev1.Event) string { return string(e.InvolvedObject.UID) })).
		WithIndex(&corev1.Event{}, "reason", field(func(e *corev1.Event) string { return e.Reason })).
		Build()
}

func owner() *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{}
	set.Namespace, set.Name, set.UID = "shop", "web", "uid"
	return set
}

func TestTheLastRefusalOfAPodIsReported(t *testing.T) {
	elsewhere := event("uid", "FailedCreate", "in another namespace", 9)
	elsewhere.Namespace = "other"
	for name, test := range map[string]struct {
		events []client.Object
		want   string
	}{
		"none": {nil, ""},
		"one":  {[]client.Object{event("uid", "FailedCreate", "exceeded quota", 0)}, "exceeded quota"},
		"the last of several": {[]client.Object{
			event("uid", "FailedCreate", "a", 1), event("uid", "FailedCreate", "b", 3), event("uid", "FailedCreate", "c", 2),
		}, "b"},
		"not what succeeded":   {[]client.Object{event("uid", "SuccessfulCreate", "done", 5), event("uid", "FailedCreate", "a", 1)}, "a"},
		"not a conflict":       {[]client.Object{event("uid", "FailedCreate", `Error saving claim: Operation cannot be fulfilled on persistentvolumeclaims "a": `+conflict, 5), event("uid", "FailedCreate", "a", 1)}, "a"},
		"not another object's": {[]client.Object{event("predecessor", "FailedCreate", "exceeded quota", 5), elsewhere}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := LastEvent(t.Context(), reader(test.events...), owner(), failedCreate, time.Time{})
			if err != nil || got != test.want {
				t.Errorf("expected %q, got %q (%v)", test.want, got, err)
			}
		})
	}
}

func TestEventsThatCannotBeReadAreAnError(t *testing.T) {
	broken := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("timeout")
		},
	}).Build()
	if _, err := LastEvent(t.Context(), broken, owner(), failedCreate, time.Time{}); err == nil || !strings.Contains(err.Error(), "events of web: timeout") {
		t.Errorf("expected the error with the name of the object, got %v", err)
	}
}
