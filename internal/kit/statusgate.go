// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusInterval passes between two writes of one object's status. A pool that 500
// nodes join writes twice a second and not 500 times.
const statusInterval = 500 * time.Millisecond

// progressInterval passes where a status only tells how far the operator has come with
// what it told before: an object costs one write when it is taken up and one when it is
// Ready, and not one for every pod between.
const progressInterval = 3 * time.Second

// statusGate remembers when each object's status was last written.
type statusGate struct {
	mu   sync.Mutex
	last map[client.ObjectKey]time.Time
}

// wait tells how long an object's status must wait, given the interval between two writes.
func (g *statusGate) wait(key client.ObjectKey, now time.Time, interval time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	last, ok := g.last[key]
	if !ok {
		return 0
	}
	return min(interval, max(0, interval-now.Sub(last)))
}

func (g *statusGate) wrote(key client.ObjectKey, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last == nil {
		g.last = map[client.ObjectKey]time.Time{}
	}
	g.last[key] = now
}

func (g *statusGate) forget(key client.ObjectKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.last, key)
}
