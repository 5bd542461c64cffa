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

// World is all the processes there are. Set its fields before it is used.
type World struct {
	// Timeout is for how long a process must be silent for the others to elect another in its
	// place; 300 ms if it is 0.
	Timeout time.Duration
	// SyncLooks is how many times a replica must have been looked at until it is in sync.
	SyncLooks int
	// JobLooks is how many times a job must have been looked at until it is done.
	JobLooks int

	mu         sync.Mutex
	running    map[string]*node              // by address
	clusters   map[string][]*node            // those that run, in one order
	pods       map[string][]*node            // the same, by pod
	folders    map[string]*folder            // by volume
	acked      map[string]map[string]written // what clients know to be written, by cluster
	violations map[string][]string           // by cluster
	made       int
	changes    int
}

// Process is a Redis that runs at one place of a pod.
type Process struct {
	// Cluster tells one cluster from another: processes of two must never hear of each other.
	Cluster string
	// Pod is whose process it is: see Stop.
	Pod   string
	Place redis.Place
	// Address is host:port. Anyone who ran there has ended.
	Address string
	// Volume names its folder. What was written stays in it.
	Volume  string
	Version redis.Version
	// MaxMemory is in bytes; 0 is without a limit.
	MaxMemory int64
	// Users are the SHA-256 of passwords by which users are let in, in hexadecimal.
	Users map[string][]string
}

// Run says that a process runs.
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
	n.source = "" // it has dropped the address that it knew: see internal/agents/redisserver
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

// Stop says that the processes of a pod have ended.
func (w *World) Stop(pod string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.pods[pod] {
		w.end(n)
	}
}

// Wipe empties a folder. Nothing may run on it.
func (w *World) Wipe(volume string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.folders, volume)
}

// Violations is all that happened to a cluster and must not.
func (w *World) Violations(cluster string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations[cluster])
}

// Changes counts the commands by which anything was changed, or tried to be.
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

// of are the processes of a cluster that run, in one order.
func (w *World) of(cluster string) []*node { return slices.Clone(w.clusters[cluster]) }

func (w *World) timeout() time.Duration {
	if w.Timeout == 0 {
		return 300 * time.Millisecond
	}
	return w.Timeout
}
