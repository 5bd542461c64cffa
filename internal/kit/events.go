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
	// eventBurst is how many events with one reason are written in one namespace before the rate limit applies.
	eventBurst = 100
	// eventRate is how many events per second are written once the limit applies.
	eventRate = 5
	// eventSources is the maximum number of rate limits, one for each namespace and reason. When it is reached, all
	// limits are reset.
	eventSources = 10_000
)

// sparingRecorder limits the rate of events with one reason in one namespace. Without a limit, 5,000 nodes that join
// node pools would cause as many writes of events as writes of nodes. A dropped event hides nothing important, because
// the status of the object shows it too.
type sparingRecorder struct {
	events.EventRecorder
	clock   clock.PassiveClock
	leftOut prometheus.Counter

	mu     sync.Mutex
	limits map[eventSource]*rate.Limiter
}

// eventSource identifies the events that share one rate limit.
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
