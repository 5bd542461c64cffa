// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusInterval passes between two writes of one object's status. A pool that 500 nodes join is written twice
// a second and not 500 times.
const statusInterval = 500 * time.Millisecond

// progressInterval passes if a status only reports progress: an object costs one write when it is first
// reconciled and one when it is Ready, and not one for every pod in between.
const progressInterval = 3 * time.Second

// The progress of an object that is being created is held back for between shortestHold and longestHold. If
// very many are being created at a time, it is held back for as long as all of them need.
const (
	shortestHold = 10 * time.Second
	longestHold  = time.Minute
	holdForEach  = 300 * time.Millisecond
	mostHold     = 5 * time.Minute
)

// statusGate remembers, for each object, what its next status must wait for.
type statusGate struct {
	objects Memory[client.ObjectKey, lastStatus]
	// creating is how many objects are being created.
	creating atomic.Int64
}

// lastStatus is when the status of an object was last written.
type lastStatus struct {
	at time.Time
	// creating: this process reconciled it first, and it has not been Ready since.
	creating bool
	// held is since when it has had progress to report, while it is being created, and hold for how long that
	// is held back; zero: it has none.
	held time.Time
	hold time.Duration
}

// wait is how long an object's status must wait, given the interval between two writes.
func (g *statusGate) wait(key client.ObjectKey, now time.Time, interval time.Duration) time.Duration {
	last := g.objects.Get(key)
	if last.at.IsZero() {
		return 0
	}
	return last.wait(now, interval)
}

func (s lastStatus) wait(now time.Time, interval time.Duration) time.Duration {
	return min(interval, max(0, interval-now.Sub(s.at)))
}

// waitProgress is wait for a status that only reports progress. That of an object that is being created waits
// for more of it, and longer the longer there was none: most objects are Ready soon after their first claim or
// pod, and one status reports both.
func (g *statusGate) waitProgress(key client.ObjectKey, now time.Time) time.Duration {
	last := g.objects.Get(key)
	switch {
	case last.at.IsZero():
		return 0
	case !last.creating:
		return last.wait(now, progressInterval)
	case last.held.IsZero() || last.held.After(now): // or the clock was set back
		last.held, last.hold = now, g.hold(now.Sub(last.at))
		g.objects.Set(key, last)
	}
	return max(last.wait(now, progressInterval), last.hold-now.Sub(last.held))
}

// hold is how long progress is held back that comes after a time without any.
func (g *statusGate) hold(silence time.Duration) time.Duration {
	hold := min(max(2*silence, shortestHold), longestHold)
	return max(hold, min(time.Duration(g.creating.Load())*holdForEach, mostHold))
}

// wrote records that a status was written: the first of an object, one that reports Ready, or another.
func (g *statusGate) wrote(key client.ObjectKey, now time.Time, first, ready bool) {
	g.objects.Update(key, func(last lastStatus) lastStatus {
		g.end(last)
		next := lastStatus{at: now, creating: (first || last.creating) && !ready}
		if next.creating {
			g.creating.Add(1)
		}
		return next
	})
}

func (g *statusGate) forget(key client.ObjectKey) {
	g.objects.Update(key, func(last lastStatus) lastStatus {
		g.end(last)
		return lastStatus{}
	})
	g.objects.Forget(key)
}

func (g *statusGate) end(last lastStatus) {
	if last.creating {
		g.creating.Add(-1)
	}
}
