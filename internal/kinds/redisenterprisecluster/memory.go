// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A step that was not taken is tried again after a pause: at first a short one, as most of what
// servers wait for is there a moment later.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 2 * time.Second
)

// memory is what the process knows of clusters beside what it reads. A new process does
// without: it tells the servers their settings once more.
type memory struct {
	mu       sync.Mutex
	clusters map[types.NamespacedName]*remembered
}

// remembered is what is known of one.
type remembered struct {
	uid types.UID
	// since is since when it is known.
	since time.Time
	// refused is what was said when the last step was not taken, and until when the next one waits.
	refused string
	until   time.Time
	pause   time.Duration
	// tuned is, by the run IDs of servers, which settings they were told; complaint is what one said that
	// did not take those of the generation.
	tuned                 map[string]string
	complaint, complained string
	// tunedSince is since when all servers have their settings; zero while one has not.
	tunedSince time.Time
	// unequipped is what was last told of a primary that refused function libraries.
	unequipped string
	// beaten is until when replicas that were not elected are not asked again to take the lead, by run ID.
	beaten map[string]time.Time
}

// of gives what is known of a cluster; the lock is held.
func (m *memory) of(key types.NamespacedName) *remembered {
	if m.clusters == nil {
		m.clusters = map[types.NamespacedName]*remembered{}
	}
	if m.clusters[key] == nil {
		m.clusters[key] = &remembered{tuned: map[string]string{}, beaten: map[string]time.Time{}}
	}
	return m.clusters[key]
}

// isAnother reports whether a name is another cluster's by now. What was known is then forgotten.
func (m *memory) isAnother(key types.NamespacedName, uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.of(key).uid
	if was != uid {
		delete(m.clusters, key)
		m.of(key).uid = uid
	}
	return was != "" && was != uid
}

// recall is a copy of what is known. tuned reports the servers that there are whether all have been
// told their settings, by what each was told.
func (m *memory) recall(key types.NamespacedName, now time.Time, tuned func(map[string]string) bool) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(key)
	if k.since.IsZero() {
		k.since = now
	}
	switch all := tuned(k.tuned); {
	case !all:
		k.tunedSince = time.Time{}
	case k.tunedSince.IsZero():
		k.tunedSince = now
	}
	out := *k
	maps.DeleteFunc(k.beaten, func(_ string, until time.Time) bool { return !now.Before(until) })
	out.tuned, out.beaten = maps.Clone(k.tuned), maps.Clone(k.beaten)
	return out
}

// note has the next step wait, and keeps what was said; nothing is said where the store was not asked.
func (m *memory) note(key types.NamespacedName, now time.Time, words string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(key)
	if words != "" {
		k.refused = words
	}
	k.pause = min(max(2*k.pause, shortestPause), longestPause)
	k.until = now.Add(k.pause)
}

// lostElection has a replica not be asked to take the lead for some time.
func (m *memory) lostElection(key types.NamespacedName, run string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).beaten[run] = until
}

// took is after a step that was taken.
func (m *memory) took(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(key)
	k.refused, k.until, k.pause = "", time.Time{}, 0
}

// told notes that a server was told its settings, and what it said if it refused some.
func (m *memory) told(key types.NamespacedName, run, generation, complaint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(key)
	if k.complained != generation {
		k.complaint, k.complained = "", generation
	}
	if complaint != "" {
		k.complaint = complaint
	}
	k.tuned[run] = generation
}

// news reports whether it has yet to be told that a primary refused function libraries.
func (m *memory) news(key types.NamespacedName, words string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(key)
	was := k.unequipped
	k.unequipped = words
	return words != was
}

// keep drops what is known of servers other than those of the given run IDs.
func (m *memory) keep(key types.NamespacedName, runs map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(key)
	for run := range k.tuned {
		if !runs[run] {
			delete(k.tuned, run)
		}
	}
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clusters, key)
}

// retriesIn is how long the next step must wait; 0: not at all.
func (k remembered) retriesIn(now time.Time) time.Duration { return max(0, k.until.Sub(now)) }
