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

// World holds all clusters. Set its fields before use.
type World struct {
	// LearnerLooks is the number of member lists after which a running learner has caught up.
	LearnerLooks int
	// AllConnected refuses every addition while a voter is down, as etcd up to 3.6.8 does. Later versions require only a
	// quorum of the new members.
	AllConnected bool
	// VersionLooks is the number of member lists after which the cluster version rises, if all members run a newer minor
	// version. In etcd the leader checks that every few seconds.
	VersionLooks int
	// SnapshotCount is the number of log entries after which members write a snapshot to the disk, like etcd's flag; 0
	// stands for 10000.
	SnapshotCount uint64
	// AdvanceMost limits the entries that one call of Advance adds; 0 means no limit.
	AdvanceMost uint64
	// Quota is the largest size of a member's data, in bytes; 0 stands for 2 GiB.
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
	// Existing stands for --initial-cluster-state=existing.
	Existing bool
	// Volume is the name of the volume with its data, which outlives the process.
	Volume string
	// Version is the etcd version; "" stands for 3.6.8.
	Version string
}

// disk is the content of a volume.
type disk struct {
	cluster *cluster
	id      uint64
	// snapshot is the index of the last snapshot. A process reads its log from there.
	snapshot uint64
	// size is the size of the data. corrupt reports that the data differs from the log.
	size    int64
	corrupt bool
	// uncounted is space that a compaction has freed and that the member still reports as in use.
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

// Serve lets clients reach the process with that name or peer URL. From then on the data of its cluster must not be
// lost, as clients may have written to it.
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

// Hang makes a process not answer clients or peers until Wake.
func (w *World) Hang(name string) { w.hang(name, true) }

// Wake ends a hang.
func (w *World) Wake(name string) { w.hang(name, false) }

// Serving reports whether a process answers clients. Only then is its pod ready.
func (w *World) Serving(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.processes.find(name)
	return p != nil && p.serving && !p.hung && p.cluster.leader != 0
}

// Reason returns why a running process does not begin to serve clients. A real server would exit and be restarted.
func (w *World) Reason(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil {
		return p.reason
	}
	return ""
}

// Violations returns the events that must never happen.
func (w *World) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// Members returns the members of the cluster with a token.
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

// Changes returns the changes of members in the clusters with a token, one line each.
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

// Advanced counts the log entries that calls of Advance have added.
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
