// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// everything stands for all resources where a resource name is expected.
const everything = "all"

// gate controls the events of all watches. It never changes the order of one watch's
// events, since no server does.
type gate struct {
	mu      sync.Mutex
	changed *sync.Cond
	held    map[string]bool // by resource
	// heldFrom holds a resource from its first event of that type on.
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

// hold keeps events of a resource back until release.
func (g *gate) hold(resource string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[resource] = true
}

// holdFrom keeps events of a resource back, from the first event of a type on.
func (g *gate) holdFrom(resource string, kind watch.EventType) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heldFrom[resource] = kind
}

// release delivers the events that were held: all of them, or only the last of each object.
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

// open lets all events through from now on.
func (g *gate) open() {
	g.release(false)
	g.late(nil)
}

// drop loses the events of a resource until expire.
func (g *gate) drop(resource string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dropped[resource] = true
}

// expire ends the watches that lost events, so that the clients list again.
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

// late delays every event by the result of delay for its resource.
func (g *gate) late(delay func(resource string) time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.delay = delay
}

// holds reports whether a stream must wait. The caller holds the lock.
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

// next waits for the next event of a stream, and returns its delay.
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
