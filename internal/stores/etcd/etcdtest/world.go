// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// World is all clusters. Set its fields before use.
type World struct {
	// LearnerLooks is how many member lists it takes until a running learner has caught up.
	LearnerLooks int
	// AllConnected refuses every addition while a voter is down, as etcd up to 3.6.8 does. Later versions only ask for a quorum
	// of the new members.
	AllConnected bool
	// VersionLooks is how many member lists it takes, all members running a newer minor version, until the cluster speaks it. In
	// etcd the leader checks that every few seconds.
	VersionLooks int
	// SnapshotCount is how many entries members apply until they write a snapshot to the disk, like etcd's flag; 10000 if it is
	// 0.
	SnapshotCount uint64
	// AdvanceMost is the most entries that one call of Advance adds; 0 means no limit.
	AdvanceMost uint64
	// Quota is the largest size of a member's data, in bytes; 2 GiB if it is 0.
	Quota int64
	// DefragmentationTakes is how long a member does not answer while it is defragmented.
	DefragmentationTakes time.Duration

	mu         sync.Mutex
	clusters   []*cluster
	processes  processes
	disks      map[string]*disk
	faults     []*Fault
	violations []string
	additions  int
	advanced   uint64
}

// Process is an etcd server in a pod, with its command line.
type Process struct {
	Name, PeerURL, ClientURL string
	// InitialCluster is in the flag's format: name=peerURL,...
	InitialCluster, Token string
	// Existing is --initial-cluster-state=existing.
	Existing bool
	// Volume names the volume with its data, which outlives the process.
	Volume string
	// Version is 3.6.8 if it is "".
	Version string
}

// disk is the content of a volume.
type disk struct {
	cluster *cluster
	id      uint64
	// snapshot is the index of the last snapshot: the log is read from there.
	snapshot uint64
	// size is the size of the data, and corrupt reports that it differs from the log.
	size    int64
	corrupt bool
	// uncounted is what a compaction has freed and the member still reports as in use.
	uncounted int64
}

// Run starts a process, in place of one with the same peer URL.
func (w *World) Run(p Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Version == "" {
		p.Version = "3.6.8"
	}
	w.end(p.PeerURL)
	w.processes = append(w.processes, &process{Process: p})
	w.settle()
}

// Serve lets clients reach the process of that name or peer URL: from then on the data of its cluster must not be lost. Before
// that no client has written to it.
func (w *World) Serve(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil && p.cluster != nil {
		p.cluster.served = true
	}
}

// Stop ends the process of that name or peer URL.
func (w *World) Stop(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(name)
	w.settle()
}

// Hang makes a process not answer clients or peers until Wake.
func (w *World) Hang(name string) { w.hang(name, true) }

// Wake ends a hang.
func (w *World) Wake(name string) { w.hang(name, false) }

// Serving reports whether a process answers clients: only then is its pod ready.
func (w *World) Serving(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.processes.find(name)
	return p != nil && p.serving && !p.hung && p.cluster.leader != 0
}

// Reason is why a running process does not begin to serve; a real server would exit and be restarted.
func (w *World) Reason(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil {
		return p.reason
	}
	return ""
}

// Violations are the events that must never happen.
func (w *World) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// Members are the members of the cluster with a token.
func (w *World) Members(token string) []etcd.Member {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clusters {
		if c.token == token && c.formed {
			return c.list()
		}
	}
	return nil
}

// Changes are the changes of members of the clusters with a token, one line each.
func (w *World) Changes(token string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, c := range w.clusters {
		if c.token == token {
			out = append(out, c.changes...)
		}
	}
	return out
}

// Advanced counts the entries that calls of Advance have added.
func (w *World) Advanced() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advanced
}

func (w *World) hang(name string, hung bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil {
		p.hung = hung
	}
	w.settle()
}

func (w *World) end(name string) {
	w.processes = slices.DeleteFunc(w.processes, func(p *process) bool { return p.Name == name || p.PeerURL == name })
}

func (w *World) violated(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}
