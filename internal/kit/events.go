// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

const (
	// eventBurst is how many events of one reason in one namespace are written without a limit.
	eventBurst = 100
	// eventRate is how many of them are written per second after that.
	eventRate = 5
	// eventSources is how many namespaces and reasons are distinguished before all counts are reset.
	eventSources = 10_000
)

// sparingRecorder limits the events of one reason in one namespace. Otherwise 5,000 nodes that join pools would cost as
// many writes of events as of nodes. What users must know is in the status.
type sparingRecorder struct {
	events.EventRecorder
	clock   clock.PassiveClock
	leftOut prometheus.Counter

	mu     sync.Mutex
	limits map[eventSource]*rate.Limiter
}

// eventSource identifies the events that share one limit.
type eventSource struct{ namespace, reason string }

// Eventf implements events.EventRecorder.
func (r *sparingRecorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	source := eventSource{reason: reason}
	if object, ok := regarding.(metav1.Object); ok {
		source.namespace = object.GetNamespace()
	}
	if !r.limit(source).AllowN(r.clock.Now(), 1) {
		r.leftOut.Inc()
		return
	}
	r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

func (r *sparingRecorder) limit(source eventSource) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limits == nil || len(r.limits) >= eventSources {
		r.limits = map[eventSource]*rate.Limiter{}
	}
	if r.limits[source] == nil {
		r.limits[source] = rate.NewLimiter(eventRate, eventBurst)
	}
	return r.limits[source]
}
