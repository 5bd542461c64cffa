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

// World is all the clusters there are. Set its fields before it is used.
type World struct {
	// LearnerLooks is how many times a learner that runs must have been listed before it
	// has caught up.
	LearnerLooks int
	// AllConnected has every addition refused while a voter is down, as by etcd 3.6.8 and
	// before. Later ones only ask for a quorum of what comes out.
	AllConnected bool
	// VersionLooks is how many times the members must have been listed, all of them running a
	// newer minor version, before the cluster speaks it. In etcd the leader sees to that every
	// few seconds.
	VersionLooks int
	// SnapshotCount is how many entries members carry out until they write a snapshot to the disk, as
	// by etcd's flag; 10000 if it is not said.
	SnapshotCount uint64
	// AdvanceMost is how many entries pass at most by one call; any number if it is 0.
	AdvanceMost uint64
	// Quota is how large the data of a member may get, in bytes; 2 GiB if it is 0.
	Quota int64
	// DefragmentationTakes is for how long a member that is defragmented answers no one.
	DefragmentationTakes time.Duration

	mu         sync.Mutex
	clusters   []*cluster
	processes  []*process
	disks      map[string]*disk
	faults     []*Fault
	violations []string
	additions  int
	advanced   uint64
}

// Process is an etcd that runs in a pod, as its command line says.
type Process struct {
	Name, PeerURL, ClientURL string
	// InitialCluster is in the flag's format: name=peerURL,...
	InitialCluster, Token string
	// Existing is what the flag --initial-cluster-state says.
	Existing bool
	// Volume tells one volume from another. What was written stays on it.
	Volume string
	// Version is 3.6.8 if it is not said.
	Version string
}

// process is one that was said to run.
type process struct {
	Process
	cluster *cluster // nil until it has found or made its cluster
	id      uint64
	serving bool // since it was in touch with a quorum for the first time
	hung    bool
	busy    bool   // with its data
	reason  string // why it cannot start
}

// disk is what stands on a volume.
type disk struct {
	cluster *cluster
	id      uint64
	// snapshot is the index of the last one on it: the log is read from there.
	snapshot uint64
	// size is what the data takes, and corrupt reports that it is not what the log says.
	size    int64
	corrupt bool
	// uncounted is what a compaction has freed and the member still says is in use.
	uncounted int64
}

// Run says that a process runs, instead of one of that peer URL that did.
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

// Serve says that clients are led to the process of that name or peer URL: what its cluster knows from
// then on must not be lost. Before that no one has written to it.
func (w *World) Serve(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.process(name); p != nil && p.cluster != nil {
		p.cluster.served = true
	}
}

// Stop says that the process of that name or peer URL has ended.
func (w *World) Stop(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(name)
	w.settle()
}

// Hang has it answer no one any more, its peers included, until it is woken.
func (w *World) Hang(name string) { w.hang(name, true) }

// Wake ends that.
func (w *World) Wake(name string) { w.hang(name, false) }

// Serving reports whether it answers clients: only then is its pod ready.
func (w *World) Serving(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.process(name)
	return p != nil && p.serving && !p.hung && p.cluster.leader != 0
}

// Reason says why a process that runs does not start to serve; a real one would end, and
// be started again.
func (w *World) Reason(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.process(name); p != nil {
		return p.reason
	}
	return ""
}

// Violations is all that happened and must not.
func (w *World) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// Members are those of the cluster with a token, as one that sees all knows them.
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

// Changes are the changes to the members of the clusters with a token, one line each.
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

// Advanced is how many entries have been passed by calls of Advance.
func (w *World) Advanced() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advanced
}

func (w *World) hang(name string, hung bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.process(name); p != nil {
		p.hung = hung
	}
	w.settle()
}

func (w *World) process(name string) *process {
	for _, p := range w.processes {
		if p.Name == name || p.PeerURL == name {
			return p
		}
	}
	return nil
}

func (w *World) end(name string) {
	w.processes = slices.DeleteFunc(w.processes, func(p *process) bool { return p.Name == name || p.PeerURL == name })
}

func (w *World) violated(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}
