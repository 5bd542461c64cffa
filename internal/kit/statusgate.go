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

// progressInterval passes where a status only says how far the operator has come with
// what it told before: an object costs one write when it is taken up and one when it is
// Ready, and not one for every pod between.
const progressInterval = 3 * time.Second

// Progress of an object that is being made is held back for so long, at least and at most. Where
// very many are being made at a time, they wait for each other: then for as long as all need.
const (
	shortestHold = 10 * time.Second
	longestHold  = time.Minute
	holdForEach  = 300 * time.Millisecond
	mostHold     = 5 * time.Minute
)

// statusGate remembers, of each object, what its next status must wait for.
type statusGate struct {
	mu      sync.Mutex
	objects map[client.ObjectKey]told
	// making is how many of them are being made.
	making int
}

// told is when an object's status was last written.
type told struct {
	last time.Time
	// made: it was taken up by this process and has not been Ready since.
	made bool
	// held is since when it has had progress to tell, if it is made, and hold for how long that is
	// held back; zero: it has none.
	held time.Time
	hold time.Duration
}

// wait says how long an object's status must wait, given the interval between two writes.
func (g *statusGate) wait(key client.ObjectKey, now time.Time, interval time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	object, ok := g.objects[key]
	if !ok {
		return 0
	}
	return object.wait(now, interval)
}

func (o told) wait(now time.Time, interval time.Duration) time.Duration {
	return min(interval, max(0, interval-now.Sub(o.last)))
}

// waitProgress is wait for a status that reports progress only. That of an object that is
// being made waits for more of it, and longer where nothing was to tell for long: most
// objects are Ready soon after their first claim or pod is, and tell of both at once.
func (g *statusGate) waitProgress(key client.ObjectKey, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	object, ok := g.objects[key]
	switch {
	case !ok:
		return 0
	case !object.made:
		return object.wait(now, progressInterval)
	case object.held.IsZero() || object.held.After(now): // or the clock was set back
		object.held, object.hold = now, g.hold(now.Sub(object.last))
		g.objects[key] = object
	}
	return max(object.wait(now, progressInterval), object.hold-now.Sub(object.held))
}

// hold is for how long progress is held back that comes after a silence.
func (g *statusGate) hold(silence time.Duration) time.Duration {
	hold := min(max(2*silence, shortestHold), longestHold)
	return max(hold, min(time.Duration(g.making)*holdForEach, mostHold))
}

// wrote notes that a status was written: the first of an object that is taken up, one that
// says that it is Ready, or another.
func (g *statusGate) wrote(key client.ObjectKey, now time.Time, first, ready bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.objects == nil {
		g.objects = map[client.ObjectKey]told{}
	}
	made := (first || g.objects[key].made) && !ready
	g.drop(key)
	g.objects[key] = told{last: now, made: made}
	if made {
		g.making++
	}
}

func (g *statusGate) forget(key client.ObjectKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(key)
}

func (g *statusGate) drop(key client.ObjectKey) {
	if g.objects[key].made {
		g.making--
	}
	delete(g.objects, key)
}
