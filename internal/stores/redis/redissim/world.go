// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// World holds all simulated servers of a test. Set its fields before use.
type World struct {
	// Timeout is how long a primary must be silent before the other primaries elect a replica to replace it; 0 means
	// 300 ms.
	Timeout time.Duration
	// SyncLooks is the number of reads after which a new replica is in sync.
	SyncLooks int
	// JobLooks is the number of reads after which a slot migration is done.
	JobLooks int

	mu         sync.Mutex
	running    map[string]*node              // running servers, by address
	clusters   map[string][]*node            // running servers, by cluster, in a fixed order
	pods       map[string][]*node            // running servers, by pod
	folders    map[string]*folder            // data directories, by volume
	acked      map[string]map[string]written // acknowledged writes, by cluster and key
	violations map[string][]string           // by cluster; see Violations
	made       int
	changes    int
}

// Process describes one of the two simulated Redis servers of a pod. Place says which one it is: home (usually a
// primary) or guest (usually a replica).
type Process struct {
	// Cluster is the name of the server's cluster. Servers of two clusters must never meet.
	Cluster string
	// Pod is the name of the server's pod: see Stop.
	Pod   string
	Place redis.Place
	// Address is host:port. If another server runs at this address, Run ends that server.
	Address string
	// Volume is the name of the server's data directory, which remains when the server ends.
	Volume  string
	Version redis.Version
	// MaxMemory is the memory limit in bytes; 0 means no limit.
	MaxMemory int64
	// Users holds the accepted passwords of each user, as SHA-256 in hexadecimal.
	Users map[string][]string
}

// Run starts a simulated server.
func (w *World) Run(p Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == nil {
		w.clusters, w.pods = map[string][]*node{}, map[string][]*node{}
		w.running, w.folders = map[string]*node{}, map[string]*folder{}
		w.acked, w.violations = map[string]map[string]written{}, map[string][]string{}
	}
	w.made++
	n := &node{Process: p, world: w, run: fmt.Sprintf("run-%d", w.made)}
	n.users, n.config = maps.Clone(p.Users), map[string]string{}
	if n.folder = w.folders[p.Volume]; n.folder == nil {
		n.folder = w.newFolder(p.Cluster)
		w.folders[p.Volume] = n.folder
	}
	n.heard()
	before := w.running[p.Address]
	n.barred = before == nil || before.folder != n.folder || before.barred
	n.source = "" // a starting server forgets its primary's address: see internal/agents/redisserver
	w.end(before)
	w.running[p.Address] = n
	w.pods[p.Pod] = append(w.pods[p.Pod], n)
	w.clusters[p.Cluster] = append(w.clusters[p.Cluster], n)
	slices.SortFunc(w.clusters[p.Cluster], func(a, b *node) int { return compare(a.Address, b.Address) })
	w.gossip(p.Cluster)
}

func (w *World) end(n *node) {
	if n == nil {
		return
	}
	same := func(o *node) bool { return o == n }
	delete(w.running, n.Address)
	w.clusters[n.Cluster] = slices.DeleteFunc(slices.Clone(w.clusters[n.Cluster]), same)
	if w.pods[n.Pod] = slices.DeleteFunc(slices.Clone(w.pods[n.Pod]), same); len(w.pods[n.Pod]) == 0 {
		delete(w.pods, n.Pod)
	}
}

// Stop ends the servers of a pod.
func (w *World) Stop(pod string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.pods[pod] {
		w.end(n)
	}
}

// Wipe empties a data directory that no server uses.
func (w *World) Wipe(volume string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.folders, volume)
}

// Violations returns the events of a cluster that must never happen.
func (w *World) Violations(cluster string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations[cluster])
}

// Changes returns how many commands have changed something or tried to.
func (w *World) Changes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes
}

func (w *World) violated(cluster, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.violations[cluster], text) {
		w.violations[cluster] = append(w.violations[cluster], text)
	}
}

// of returns the running servers of a cluster, sorted by address.
func (w *World) of(cluster string) []*node { return slices.Clone(w.clusters[cluster]) }

func (w *World) timeout() time.Duration {
	if w.Timeout == 0 {
		return 300 * time.Millisecond
	}
	return w.Timeout
}
