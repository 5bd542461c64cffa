// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// everything is used instead of the name of a resource, and means all resources.
const everything = "all"

// gate controls when watch events reach the operator. It never changes the order of events in a watch, because no
// server does that.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	held    map[string]bool // resources whose events wait
	// heldFrom maps a resource to an event type. All events of the resource wait from the first event of this type on.
	heldFrom map[string]watch.EventType
	dropped  map[string]bool
	delay    func(resource string) time.Duration
	streams  map[*stream]bool
}

func newGate() *gate {
	g := &gate{
		held: map[string]bool{}, heldFrom: map[string]watch.EventType{}, dropped: map[string]bool{},
		streams: map[*stream]bool{},
	}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// hold makes the events of a resource wait until release.
func (g *gate) hold(resource string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[resource] = true
}

// holdFrom makes the events of a resource wait, from the first event of the given type on.
func (g *gate) holdFrom(resource string, kind watch.EventType) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heldFrom[resource] = kind
}

// release delivers all events that wait, or only the last event of each object if onlyLast is set.
func (g *gate) release(onlyLast bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if onlyLast {
		for s := range g.streams {
			if g.holds(s) {
				s.pending = coalesce(s.pending)
			}
		}
	}
	clear(g.held)
	clear(g.heldFrom)
	g.changed.Broadcast()
}

// open delivers all waiting events, and stops every delay from now on.
func (g *gate) open() {
	g.release(false)
	g.late(nil)
}

// drop discards the events of a resource until expire is called.
func (g *gate) drop(resource string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dropped[resource] = true
}

// expire ends the watches whose events were discarded, so that the operator lists their objects again.
func (g *gate) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s := range g.streams {
		if g.dropped[s.resource] || g.dropped[everything] {
			s.pending, s.last = []frame{expired()}, true
		}
	}
	clear(g.dropped)
	g.changed.Broadcast()
}

// late delays every event by the duration that delay returns for its resource. A nil delay stops this.
func (g *gate) late(delay func(resource string) time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.delay = delay
}

// holds reports whether the next event of a stream must wait. The caller must hold the lock.
func (g *gate) holds(s *stream) bool {
	if g.held[s.resource] || g.held[everything] {
		return true
	}
	for _, resource := range []string{s.resource, everything} {
		if kind, ok := g.heldFrom[resource]; ok && len(s.pending) > 0 && s.pending[0].kind == kind {
			g.held[s.resource] = true
			return true
		}
	}
	return false
}

// next waits until a stream may deliver its next event. It returns the event and how long to delay it.
func (g *gate) next(s *stream) (frame, time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !s.closed && (len(s.pending) == 0 && !s.ended || len(s.pending) > 0 && g.holds(s)) {
		g.changed.Wait()
	}
	if s.closed || len(s.pending) == 0 {
		return frame{}, 0, false
	}
	f := s.pending[0]
	s.pending = s.pending[1:]
	if g.delay == nil {
		return f, 0, true
	}
	return f, g.delay(s.resource), true
}
