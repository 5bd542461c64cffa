// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"cmp"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// least is the size of a member's data without any key, in bytes.
const least = 20480

// data describes the size of the data that all members of a cluster store. No keys are stored.
type data struct {
	// live is the size of the current keys. history is the size of their earlier values. Both are in bytes.
	live, history int64
	// revision is the latest revision. compacted is the revision up to which the revision history was compacted.
	revision, compacted int64
}

func (d data) inUse() int64 { return least + d.live + d.history }

// compact removes the revision history up to the given revision. The size of the history shrinks in proportion to the
// number of removed revisions.
func (d *data) compact(revision int64) {
	d.history = d.history * (d.revision - revision) / (d.revision - d.compacted)
	d.compacted = revision
}

func (w *World) quota() int64 { return cmp.Or(w.Quota, 2<<30) }

// Write simulates writes of a client to the cluster with this token: live and history are added to the sizes in data.
// As in etcd, data that reaches the quota raises the alarm NOSPACE. NOSPACE allows only writes that free space, and
// CORRUPT allows no writes.
func (w *World) Write(token string, times, live, history int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.formed(token)
	switch {
	case c == nil || c.leader == 0:
		return errRefused
	case c.alarmed(etcd.AlarmCorrupt):
		return errCorrupt
	case live >= 0 && c.alarmed(etcd.AlarmNoSpace):
		return errNoSpace
	}
	c.data.revision += times
	c.data.live += live
	c.data.history += history
	for _, p := range w.processes.up(c) {
		on := w.disks[p.Volume]
		on.uncounted = 0
		if on.size = max(on.size, c.data.inUse()); on.size >= w.quota() {
			c.raise(etcd.Alarm{Member: p.id, Kind: etcd.AlarmNoSpace})
		}
	}
	c.index++
	return nil
}

// Corrupt makes the data of a process differ from what its log says.
func (w *World) Corrupt(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil && p.cluster != nil {
		w.disks[p.Volume].corrupt = true
	}
}

// Accuse raises the alarm CORRUPT for a process. As in etcd, this process may be a follower although the data of the
// leader is corrupt.
func (w *World) Accuse(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil && p.cluster != nil {
		p.cluster.raise(etcd.Alarm{Member: p.id, Kind: etcd.AlarmCorrupt})
	}
}

// Alarms returns the raised alarms of the cluster with this token.
func (w *World) Alarms(token string) []etcd.Alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.formed(token); c != nil {
		return slices.Clone(c.alarms)
	}
	return nil
}

// Leader returns the name of the leader of the cluster with this token; "" if there is none.
func (w *World) Leader(token string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.formed(token); c != nil && c.leader != 0 {
		return c.member(c.leader).Name
	}
	return ""
}

func (w *World) formed(token string) *cluster {
	for _, c := range w.clusters {
		if c.token == token && c.formed {
			return c
		}
	}
	return nil
}

// copies makes a new member's data corrupt if the leader that it copies from has corrupt data.
func copies(w *World, p Process, c *cluster) {
	for _, from := range w.processes {
		if on := w.disks[from.Volume]; from.cluster == c && c.leader != 0 && from.id == c.leader && on.corrupt {
			w.disks[p.Volume].corrupt = true
			w.violated("%s has begun with the corrupt data of %s", p.Name, from.Name)
		}
	}
}

func (c *cluster) alarmed(kind string) bool {
	return slices.ContainsFunc(c.alarms, func(a etcd.Alarm) bool { return a.Kind == kind })
}

func (c *cluster) raise(alarm etcd.Alarm) {
	if !slices.Contains(c.alarms, alarm) {
		c.alarms = append(c.alarms, alarm)
		c.index++
	}
}
