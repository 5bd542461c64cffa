// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

const (
	// eventBurst events of one reason are written at once,
	eventBurst = 100
	// and then so many a second.
	eventRate = 5
)

// sparingRecorder leaves out events of a reason of which there are very many: 5000 nodes
// that join pools would have the API server write as many events as nodes. Events help
// who reads them; what must be known stands in the status.
type sparingRecorder struct {
	events.EventRecorder
	clock   clock.PassiveClock
	leftOut prometheus.Counter

	mu     sync.Mutex
	limits map[string]*rate.Limiter
}

// Eventf implements events.EventRecorder.
func (r *sparingRecorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if !r.limit(reason).AllowN(r.clock.Now(), 1) {
		r.leftOut.Inc()
		return
	}
	r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

func (r *sparingRecorder) limit(reason string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limits == nil {
		r.limits = map[string]*rate.Limiter{}
	}
	if r.limits[reason] == nil {
		r.limits[reason] = rate.NewLimiter(eventRate, eventBurst)
	}
	return r.limits[reason]
}
