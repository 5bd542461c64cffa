// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusInterval is the least time between two writes of one object's status. The status of a pool that 500 nodes join
// is written twice a second, and not 500 times.
const statusInterval = 500 * time.Millisecond

// progressInterval is the least time if a status only reports progress. The status of an object is then written when it
// is first reconciled and when it is Ready, and not for every pod in between.
const progressInterval = 3 * time.Second

// While an object is being created, its progress is held back for shortestHold to longestHold. If very many objects are
// being created at a time, it is held back longer: holdForEach for each of them, but at most mostHold.
const (
	shortestHold = 10 * time.Second
	longestHold  = time.Minute
	holdForEach  = 300 * time.Millisecond
	mostHold     = 5 * time.Minute
)

// statusGate remembers, for each object, how long its next status must wait.
type statusGate struct {
	objects Memory[client.ObjectKey, lastStatus]
	// creating is how many objects are being created.
	creating atomic.Int64
}

// lastStatus describes when the status of an object was last written.
type lastStatus struct {
	at time.Time
	// creating reports that this process was the first to reconcile the object, and the object has not been Ready since.
	creating bool
	// held is the time since which an object that is being created has had progress to report; zero if it has none. hold
	// is how long that progress is held back.
	held time.Time
	hold time.Duration
}

// wait returns how long an object's status must wait, for a given interval between two writes.
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

// waitProgress returns how long a status that only reports progress must wait. While an object is being created, the
// wait grows with the time since the last status. Most objects are Ready soon after their first claim or pod, so that
// one status can report both.
func (g *statusGate) waitProgress(key client.ObjectKey, now time.Time) time.Duration {
	last := g.objects.Get(key)
	switch {
	case last.at.IsZero():
		return 0
	case !last.creating:
		return last.wait(now, progressInterval)
	case last.held.IsZero() || last.held.After(now): // the clock may have been set back
		last.held, last.hold = now, g.hold(now.Sub(last.at))
		g.objects.Set(key, last)
	}
	return max(last.wait(now, progressInterval), last.hold-now.Sub(last.held))
}

// hold returns how long to hold back progress that comes after a time without progress.
func (g *statusGate) hold(silence time.Duration) time.Duration {
	hold := min(max(2*silence, shortestHold), longestHold)
	return max(hold, min(time.Duration(g.creating.Load())*holdForEach, mostHold))
}

// wrote records that a status was written. first reports that it is the object's first status, and ready that it
// reports Ready.
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
