// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package formation

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Memory remembers which cluster each name belongs to, and since when the first members of a new cluster have had a
// quorum. A restarted process starts with an empty Memory.
type Memory struct {
	mu    sync.Mutex
	times map[types.NamespacedName]origin
}

type origin struct {
	uid types.UID
	// quorum is when the current quorum was first seen; zero if there is none.
	quorum time.Time
	// members is the number of members with which the cluster was created. An annotation of the first pods records it,
	// too. But opcrew needs the number before the cache shows these pods, and the spec may have changed by then.
	members int32
	// pods records when the pod of each first member appeared in the cache, by the pod's UID.
	pods map[types.UID]time.Time
}

// IsAnother reports whether the name belonged to another cluster until now. It remembers that the name belongs to the
// given cluster.
func (m *Memory) IsAnother(key types.NamespacedName, uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.times == nil {
		m.times = map[types.NamespacedName]origin{}
	}
	last, known := m.times[key]
	if last.uid != uid {
		m.times[key] = origin{uid: uid}
	}
	return known && last.uid != uid
}

// BegunWith stores the first non-zero number of members that it gets for a cluster. It always returns the stored
// number.
func (m *Memory) BegunWith(key types.NamespacedName, members int32) int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.times[key]
	if last.members == 0 && members > 0 {
		last.members = members
		m.times[key] = last
	}
	return last.members
}

// QuorumSince returns the time since which the first members have had a quorum without interruption; zero if they have
// none now.
func (m *Memory) QuorumSince(key types.NamespacedName, now time.Time, quorum bool) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.times[key]
	switch {
	case !quorum:
		last.quorum = time.Time{}
	case last.quorum.IsZero():
		last.quorum = now
	}
	m.times[key] = last
	return last.quorum
}

// LastPod returns when the newest of the given pods appeared in the cache.
func (m *Memory) LastPod(key types.NamespacedName, now time.Time, pods map[string]*corev1.Pod) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.times[key], map[types.UID]time.Time{}
	var latest time.Time
	for _, pod := range pods {
		came, seen := last.pods[pod.UID]
		if !seen {
			came = now
		}
		known[pod.UID] = came
		if came.After(latest) {
			latest = came
		}
	}
	last.pods = known
	m.times[key] = last
	return latest
}

// Forget drops what is remembered about a name.
func (m *Memory) Forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.times, key)
}
