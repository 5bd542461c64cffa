// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"cmp"
	"errors"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

var (
	errNoSpace = errors.New("etcdserver: mvcc: database space exceeded")
	errCorrupt = errors.New("etcdserver: corrupt cluster")
	errFuture  = errors.New("etcdserver: mvcc: required revision is a future revision")
)

// least is what the data of a member without keys takes, in bytes.
const least = 20480

// data is what all members of a cluster keep: how much of it, and not what.
type data struct {
	// live are the keys as they are, and history what they were, in bytes.
	live, history int64
	// revision is the last, and compacted the one up to which there is no history.
	revision, compacted int64
}

func (d data) inUse() int64 { return least + d.live + d.history }

// compact throws away the history up to a revision: as much of it as there are revisions.
func (d *data) compact(revision int64) {
	d.history = d.history * (d.revision - revision) / (d.revision - d.compacted)
	d.compacted = revision
}

func (w *World) quota() int64 { return cmp.Or(w.Quota, 2<<30) }

// Write has a client of the cluster with a token write so many times: keys take more bytes, or fewer,
// and what they were goes to the history. It is refused, as by etcd, while an alarm is raised, unless it
// is about fewer bytes; and raises one when there is no room.
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
	for _, p := range w.up(c) {
		on := w.disks[p.Volume]
		on.uncounted = 0
		if on.size = max(on.size, c.data.inUse()); on.size >= w.quota() {
			c.raise(etcd.Alarm{Member: p.id, Kind: etcd.AlarmNoSpace})
		}
	}
	c.index++
	return nil
}

// Corrupt has the volume of a process hold what its log does not say.
func (w *World) Corrupt(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.process(name); p != nil && p.cluster != nil {
		w.disks[p.Volume].corrupt = true
	}
}

// Accuse has the cluster of a process raise the alarm that its data is corrupt. Etcd accuses a follower
// that differs from the leader, whichever of them is at fault.
func (w *World) Accuse(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.process(name); p != nil && p.cluster != nil {
		p.cluster.raise(etcd.Alarm{Member: p.id, Kind: etcd.AlarmCorrupt})
	}
}

// Alarms are those of the cluster with a token.
func (w *World) Alarms(token string) []etcd.Alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.formed(token); c != nil {
		return slices.Clone(c.alarms)
	}
	return nil
}

// Leader is the name of the member that leads the cluster with a token; "" if none does.
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

// copies has a member that begins with what the leader has be as corrupt as that.
func (w *World) copies(p Process, c *cluster) {
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
