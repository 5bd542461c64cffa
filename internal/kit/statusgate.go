// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusInterval is the minimum time between two status writes of one object. Without it, a node pool that 500 nodes
// join would cause 500 status writes.
const statusInterval = 500 * time.Millisecond

// progressInterval is the minimum time between a status write and a following write that only shows progress. Most
// objects then need two status writes, one at the first reconcile and one when they are Ready, instead of one per pod.
const progressInterval = 3 * time.Second

// While an object is being created, opcrew reports progress with a delay between shortestHold and longestHold. If many
// objects are being created concurrently, the delay can be longer: holdForEach for each of them, but at most mostHold.
const (
	shortestHold = 10 * time.Second
	longestHold  = time.Minute
	holdForEach  = 300 * time.Millisecond
	mostHold     = 5 * time.Minute
)

// statusGate decides how long the next status of each object must wait.
type statusGate struct {
	objects Memory[client.ObjectKey, lastStatus]
	// creating is the number of objects that are being created.
	creating atomic.Int64
}

// lastStatus records when the status of an object was last written, and whether progress since then is still
// unreported.
type lastStatus struct {
	at time.Time
	// creating is true if this process was the first to reconcile the object, and the object has not been Ready since.
	creating bool
	// held is the time of the first unreported progress of an object that is being created; zero if there is none. hold
	// is how long the status is postponed after that time.
	held time.Time
	hold time.Duration
}

// wait returns how long the status of an object must wait, given the minimum interval between two writes.
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

// waitProgress returns how long a status that only shows progress must wait. While an object is being created, the wait
// grows with the time since the last status. Most objects are Ready soon after their first claim or pod exists, so one
// postponed status can report the claim or pod and the condition Ready.
func (g *statusGate) waitProgress(key client.ObjectKey, now time.Time) time.Duration {
	last := g.objects.Get(key)
	switch {
	case last.at.IsZero():
		return 0
	case !last.creating:
		return last.wait(now, progressInterval)
	case last.held.IsZero() || last.held.After(now): // a time in the future means that the clock was set back
		last.held, last.hold = now, g.hold(now.Sub(last.at))
		g.objects.Set(key, last)
	}
	return max(last.wait(now, progressInterval), last.hold-now.Sub(last.held))
}

// hold returns how long to postpone the report of progress. silence is the time since the last status write.
func (g *statusGate) hold(silence time.Duration) time.Duration {
	hold := min(max(2*silence, shortestHold), longestHold)
	return max(hold, min(time.Duration(g.creating.Load())*holdForEach, mostHold))
}

// wrote records a status write. first is true for the first status of the object. ready is true if that status reports
// Ready.
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
