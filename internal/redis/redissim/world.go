// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/opcrew/opcrew/internal/redis"
)

// World is all the processes there are. Set its fields before it is used.
type World struct {
	// Timeout is for how long a process must be silent for the others to elect another in its
	// place; 300 ms if it is 0.
	Timeout time.Duration
	// SyncLooks is how many times a replica must have been looked at until it is in sync.
	SyncLooks int

	mu         sync.Mutex
	running    map[string]*node              // by address
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
	// Address is host:port. Whoever ran there has ended.
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
	w.running[p.Address] = n
	w.gossip(p.Cluster)
}

// Stop says that the processes of a pod have ended.
func (w *World) Stop(pod string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for address, n := range w.running {
		if n.Pod == pod {
			delete(w.running, address)
		}
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
func (w *World) of(cluster string) []*node {
	var out []*node
	for _, address := range slices.Sorted(maps.Keys(w.running)) {
		if n := w.running[address]; n.Cluster == cluster {
			out = append(out, n)
		}
	}
	return out
}

func (w *World) timeout() time.Duration {
	if w.Timeout == 0 {
		return 300 * time.Millisecond
	}
	return w.Timeout
}
