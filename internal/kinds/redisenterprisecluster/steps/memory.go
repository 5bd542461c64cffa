// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/kit"
)

// minPause and maxPause limit the pause before a failed step is retried. The first pause is short, because most causes
// of failures pass quickly.
const (
	minPause = 100 * time.Millisecond
	maxPause = 2 * time.Second
)

// Memory is what this process of the operator remembers about clusters. After a restart of the process, Memory is
// empty. This does little harm: the operator only sends all settings to the servers once more.
type Memory struct {
	clusters kit.Memory[types.NamespacedName, Known]
}

// Known holds what Memory stores about one cluster.
type Known struct {
	uid types.UID
	// Since is when the process first saw the cluster.
	Since time.Time
	// Refused explains why the last step failed. The next step waits until RetryAt.
	Refused string
	RetryAt time.Time
	pause   time.Duration
	// Tuned maps the Run of a server, which identifies one start of the server, to the generation of settings that the
	// server has. Complaint is the error with which a server refused a setting of generation Complained.
	Tuned                 map[string]string
	Complaint, Complained string
	// TunedSince is the time since which all servers have had their settings; zero if any server lacks them.
	TunedSince time.Time
	// libraries is the last reported refusal to copy function libraries.
	libraries string
	// LostElections maps the Run (see observed.Server) of each replica that lost an election to the time before which
	// opcrew must not make that replica a primary.
	LostElections map[string]time.Time
}

// RetriesIn returns how long the next step must wait; 0 if it need not wait.
func (k Known) RetriesIn(now time.Time) time.Duration { return max(0, k.RetryAt.Sub(now)) }

// IsAnother reports whether the cluster was deleted and created again under the same name: its UID has changed. If so,
// Memory forgets what it knew about the previous cluster.
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

// Recall returns what is known about a cluster. The given function reports whether all servers have their settings. Its
// argument maps the Run of each server (see Known.Tuned) to the generation of settings that the server has.
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

// Postpone makes the next step wait, and stores why the last step failed. refusal is "" if no command was sent to the
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

// LostElection records that a replica lost an election, and must not become the primary before a given time.
func (m *Memory) LostElection(key types.NamespacedName, run string, until time.Time) {
	m.clusters.Update(key, func(k Known) Known {
		k.LostElections = with(k.LostElections, run, until)
		return k
	})
}

// Taken forgets earlier failures, because a step has succeeded.
func (m *Memory) Taken(key types.NamespacedName) {
	m.clusters.Update(key, func(k Known) Known {
		k.Refused, k.RetryAt, k.pause = "", time.Time{}, 0
		return k
	})
}

// Tuned records that opcrew sent a server the settings of a generation. run identifies the start of the server.
// complaint explains why the server refused one of the settings; "" if it refused none.
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

// IsNewRefusal reports whether this failure to copy function libraries to a server has not been reported yet, and
// records it as reported.
func (m *Memory) IsNewRefusal(key types.NamespacedName, refusal string) (isNew bool) {
	m.clusters.Update(key, func(k Known) Known {
		isNew = k.libraries != refusal
		k.libraries = refusal
		return k
	})
	return isNew
}

// KeepRuns forgets everything about servers that no longer run. runs contains the Run (see observed.Server) of every
// server that still runs.
func (m *Memory) KeepRuns(key types.NamespacedName, runs map[string]bool) {
	m.clusters.Update(key, func(k Known) Known {
		k.Tuned = maps.Clone(k.Tuned)
		maps.DeleteFunc(k.Tuned, func(run, _ string) bool { return !runs[run] })
		return k
	})
}

// Forget removes a cluster from the memory.
func (m *Memory) Forget(key types.NamespacedName) { m.clusters.Forget(key) }

// with returns a copy of a map with one more entry. It does not change the map, because other goroutines may still read
// it.
func with[V any](m map[string]V, key string, value V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[key] = value
	return out
}
