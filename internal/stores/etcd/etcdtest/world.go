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

// World holds simulated etcd clusters in memory. Set its exported fields before use.
type World struct {
	// LearnerLooks is how often the members must be listed until a running learner has caught up. Such counts replace
	// time in the simulation.
	LearnerLooks int
	// AllConnected refuses to add a member while any voter is down, as etcd up to 3.6.8 does. Later versions require
	// only a quorum.
	AllConnected bool
	// VersionLooks is how often the members must be listed, after all of them run a newer minor version, until the
	// cluster version rises. In etcd, the leader checks this every few seconds.
	VersionLooks int
	// SnapshotCount is the number of log entries after which members write a snapshot, like etcd's flag; 0 means 10000.
	SnapshotCount uint64
	// AdvanceMost is the maximum number of entries that one call of Advance adds; 0 means no limit.
	AdvanceMost uint64
	// Quota is the maximum size of a member's data, in bytes; 0 means 2 GiB.
	Quota int64
	// DefragmentationTakes is how long a defragmentation takes. The member does not answer meanwhile.
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

// Process is an etcd process in a pod, with the settings of its command line.
type Process struct {
	Name, PeerURL, ClientURL string
	// InitialCluster has the format of etcd's flag: name=peerURL,...
	InitialCluster, Token string
	// Existing is true for --initial-cluster-state=existing.
	Existing bool
	// Volume is the name of the volume with the data, which outlives the process.
	Volume string
	// Version is the etcd version; "" means 3.6.8.
	Version string
}

// disk is the content of a volume.
type disk struct {
	cluster *cluster
	id      uint64
	// snapshot is the log index of the last snapshot. A process reads its log from there.
	snapshot uint64
	// size is the size of the data in bytes. corrupt is true if the data differs from what the log says.
	size    int64
	corrupt bool
	// uncounted is space that a compaction has freed, but that the member still reports as in use.
	uncounted int64
}

// Run starts a process. It replaces a process with the same peer URL.
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

// Serve lets clients reach the process with this name or peer URL. From then on, a loss of the cluster's data is a
// violation, as clients may have written to it.
func (w *World) Serve(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil && p.cluster != nil {
		p.cluster.served = true
	}
}

// Publish makes a running process publish another client URL than its own, as a changed or hostile member does.
func (w *World) Publish(name, clientURL string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil {
		p.published = clientURL
	}
	w.settle()
}

// Stop ends the process with that name or peer URL.
func (w *World) Stop(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(name)
	w.settle()
}

// Hang makes a process unresponsive to clients and peers, until Wake.
func (w *World) Hang(name string) { w.hang(name, true) }

// Wake makes an unresponsive process answer again.
func (w *World) Wake(name string) { w.hang(name, false) }

// Serving reports whether a process answers clients. Its pod is ready only then.
func (w *World) Serving(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.processes.find(name)
	return p != nil && p.serving && !p.hung && p.cluster.leader != 0
}

// Reason returns why a process cannot start; "" if it can. A real etcd process would exit and be restarted.
func (w *World) Reason(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil {
		return p.reason
	}
	return ""
}

// Violations returns what happened in the simulation that must never happen, such as a loss of data; one text per
// event.
func (w *World) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// Members returns the members of the cluster with this token.
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

// Changes returns all changes of the clusters with this token, such as "Remove <peer URL>".
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

// Advanced returns the number of log entries that calls of Advance have added.
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
