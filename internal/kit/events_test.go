// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
)

// counting is an event recorder that counts events by reason.
type counting map[string]int

func (c counting) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) { c[reason]++ }

func TestVeryManyEventsOfOneReasonAreLimited(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	written, leftOut := counting{}, prometheus.NewCounter(prometheus.CounterOpts{Name: "left_out"})
	recorder := &sparingRecorder{EventRecorder: written, clock: now, leftOut: leftOut}
	for i := range 5000 {
		recorder.Eventf(nil, nil, "Normal", "Joined", "Join", fmt.Sprint(i))
	}
	recorder.Eventf(nil, nil, "Warning", "Refused", "Patch", "no")
	if written["Joined"] != eventBurst || written["Refused"] != 1 {
		t.Errorf("expected %d events of the many, and the one of another reason, got %v", eventBurst, written)
	}
	elsewhere := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
	recorder.Eventf(elsewhere, nil, "Normal", "Joined", "Join", "one")
	if written["Joined"] != eventBurst+1 {
		t.Errorf("expected the first event of another namespace to be written, got %v", written)
	}
	written["Joined"] = eventBurst
	now.SetTime(now.Now().Add(2 * time.Second))
	for range 5000 {
		recorder.Eventf(nil, nil, "Normal", "Joined", "Join", "again")
	}
	if written["Joined"] != eventBurst+2*eventRate {
		t.Errorf("expected %d more after two seconds, got %d in all", 2*eventRate, written["Joined"])
	}
}
