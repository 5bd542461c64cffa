// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"cmp"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// least is the size of a member's data without keys, in bytes.
const least = 20480

// data describes the data that all members of a cluster store.
type data struct {
	// live is the size of the current keys, and history that of their earlier values, in bytes.
	live, history int64
	// revision is the latest revision, and compacted the revision of the last compaction: the history up to it is gone.
	revision, compacted int64
}

func (d data) inUse() int64 { return least + d.live + d.history }

// compact drops the history up to a revision, in proportion to the number of revisions.
func (d *data) compact(revision int64) {
	d.history = d.history * (d.revision - revision) / (d.revision - d.compacted)
	d.compacted = revision
}

func (w *World) quota() int64 { return cmp.Or(w.Quota, 2<<30) }

// Write makes a client write to the cluster with a token. live is added to the size of the keys, and history to that of
// their earlier values. As in etcd, an alarm blocks writes, except those that free space, and a full quota raises an
// alarm.
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

// Corrupt makes the data of a process differ from its log.
func (w *World) Corrupt(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil && p.cluster != nil {
		w.disks[p.Volume].corrupt = true
	}
}

// Accuse raises the alarm that the data of a process is corrupt. etcd accuses a follower that differs from the leader,
// no matter which of the two is corrupt.
func (w *World) Accuse(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes.find(name); p != nil && p.cluster != nil {
		p.cluster.raise(etcd.Alarm{Member: p.id, Kind: etcd.AlarmCorrupt})
	}
}

// Alarms returns the alarms of the cluster with a token.
func (w *World) Alarms(token string) []etcd.Alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.formed(token); c != nil {
		return slices.Clone(c.alarms)
	}
	return nil
}

// Leader returns the name of the leader of the cluster with a token; "" if there is none.
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

// copies makes a new member's data corrupt if it copies from a leader whose data is corrupt.
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
