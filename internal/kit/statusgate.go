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

// longestHold bounds how long progress is held back for more of it.
const longestHold = 10 * time.Second

// statusGate remembers when each object's status was last written, and since when there is
// progress to tell.
type statusGate struct {
	mu   sync.Mutex
	last map[client.ObjectKey]time.Time
	held map[client.ObjectKey]time.Time
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

// waitProgress is wait for a status that tells of progress only. It waits half as long as
// nothing was to tell before, too: where a first pod takes a minute, the second one takes
// some seconds more, and both are told at once.
func (g *statusGate) waitProgress(key client.ObjectKey, now time.Time) time.Duration {
	wait := g.wait(key, now, progressInterval)
	g.mu.Lock()
	defer g.mu.Unlock()
	last, ok := g.last[key]
	if !ok {
		return 0
	}
	since, ok := g.held[key]
	if !ok || since.After(now) {
		since = now
		g.held[key] = now
	}
	hold := min(since.Sub(last)/2, longestHold)
	return max(wait, hold-now.Sub(since))
}

func (g *statusGate) wrote(key client.ObjectKey, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last == nil {
		g.last, g.held = map[client.ObjectKey]time.Time{}, map[client.ObjectKey]time.Time{}
	}
	g.last[key] = now
	delete(g.held, key)
}

func (g *statusGate) forget(key client.ObjectKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.last, key)
	delete(g.held, key)
}
