// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/kit"
)

// A step that was not taken is tried again after a pause. The first pause is short, as most of what servers wait for
// happens soon.
const (
	minPause = 100 * time.Millisecond
	maxPause = 2 * time.Second
)

// Memory is what the process remembers about clusters. A restarted process can do without it: it just tunes the servers
// once more.
type Memory struct {
	clusters kit.Memory[types.NamespacedName, Known]
}

// Known holds what is remembered about one cluster.
type Known struct {
	uid types.UID
	// Since is when the process first read the cluster.
	Since time.Time
	// Refused explains why the last step was not taken. The next step waits until RetryAt.
	Refused string
	RetryAt time.Time
	pause   time.Duration
	// Tuned has, by run of a server, the generation of settings that it has. Complaint explains how a server refused
	// the settings of generation Complained.
	Tuned                 map[string]string
	Complaint, Complained string
	// TunedSince is when all servers came to have their settings; zero if a server lacks them.
	TunedSince time.Time
	// libraries is the last reported refusal of function libraries.
	libraries string
	// LostElections has, by run of a replica that lost an election, until when it must not be proposed as primary.
	LostElections map[string]time.Time
}

// RetriesIn is how long the next step must wait; 0 if it need not.
func (k Known) RetriesIn(now time.Time) time.Duration { return max(0, k.RetryAt.Sub(now)) }

// IsAnother reports whether the name now belongs to another cluster. What was known about the earlier one is forgotten.
func (m *Memory) IsAnother(key types.NamespacedName, uid types.UID) (another bool) {
	m.clusters.Update(key, func(k Known) Known {
		if k.uid == uid {
			return k
		}
		another = k.uid != ""
		return Known{uid: uid}
	})
	return another
}

// Recall returns what is known about a cluster. complete reports, from the generation of each run, whether all servers
// have their settings.
func (m *Memory) Recall(key types.NamespacedName, now time.Time, complete func(map[string]string) bool) Known {
	return m.clusters.Update(key, func(k Known) Known {
		if k.Since.IsZero() {
			k.Since = now
		}
		switch all := complete(k.Tuned); {
		case !all:
			k.TunedSince = time.Time{}
		case k.TunedSince.IsZero():
			k.TunedSince = now
		}
		k.LostElections = maps.Clone(k.LostElections)
		maps.DeleteFunc(k.LostElections, func(_ string, until time.Time) bool { return !now.Before(until) })
		return k
	})
}

// Postpone makes the next step wait, and keeps why the last one was not taken; "" if no command was sent to the
// servers.
func (m *Memory) Postpone(key types.NamespacedName, now time.Time, refusal string) {
	m.clusters.Update(key, func(k Known) Known {
		if refusal != "" {
			k.Refused = refusal
		}
		k.pause = min(max(2*k.pause, minPause), maxPause)
		k.RetryAt = now.Add(k.pause)
		return k
	})
}

// LostElection keeps a replica from being proposed as primary until a time.
func (m *Memory) LostElection(key types.NamespacedName, run string, until time.Time) {
	m.clusters.Update(key, func(k Known) Known {
		k.LostElections = with(k.LostElections, run, until)
		return k
	})
}

// Taken forgets earlier refusals, as a step was taken.
func (m *Memory) Taken(key types.NamespacedName) {
	m.clusters.Update(key, func(k Known) Known {
		k.Refused, k.RetryAt, k.pause = "", time.Time{}, 0
		return k
	})
}

// Tuned remembers that a server has the settings of a generation, and how it refused any of them.
func (m *Memory) Tuned(key types.NamespacedName, run, generation, complaint string) {
	m.clusters.Update(key, func(k Known) Known {
		if k.Complained != generation {
			k.Complaint, k.Complained = "", generation
		}
		if complaint != "" {
			k.Complaint = complaint
		}
		k.Tuned = with(k.Tuned, run, generation)
		return k
	})
}

// IsNewRefusal reports whether a refusal of function libraries has not been reported yet, and remembers it.
func (m *Memory) IsNewRefusal(key types.NamespacedName, refusal string) (isNew bool) {
	m.clusters.Update(key, func(k Known) Known {
		isNew = k.libraries != refusal
		k.libraries = refusal
		return k
	})
	return isNew
}

// KeepRuns forgets all runs of servers except the given ones.
func (m *Memory) KeepRuns(key types.NamespacedName, runs map[string]bool) {
	m.clusters.Update(key, func(k Known) Known {
		k.Tuned = maps.Clone(k.Tuned)
		maps.DeleteFunc(k.Tuned, func(run, _ string) bool { return !runs[run] })
		return k
	})
}

// Forget drops what is known about a cluster.
func (m *Memory) Forget(key types.NamespacedName) { m.clusters.Forget(key) }

// with returns a copy of a map with one more entry, as earlier copies are still read.
func with[V any](m map[string]V, key string, value V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[key] = value
	return out
}
