// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Compact deletes the history before a revision.
func (s *store) Compact(ctx context.Context, revision int64) error {
	return s.agreed(ctx, "Compact", func(c *cluster) error {
		switch {
		case c.alarmed(etcd.AlarmCorrupt):
			return errCorrupt
		case revision <= c.data.compacted:
			return etcd.ErrCompacted
		case revision > c.data.revision:
			return errFuture
		}
		compact(s.world, c, revision)
		c.changed("Compact %d", revision)
		return nil
	})
}

// compact deletes history on all members. While etcd refuses writes, followers keep reporting the previous size in use:
// etcd updates this size only at a commit, and space that one commit frees counts only from the next commit on.
func compact(w *World, c *cluster, revision int64) {
	before := c.data.inUse()
	c.data.compact(revision)
	for _, p := range w.processes.up(c) {
		if p.id != c.leader && c.alarmed(etcd.AlarmNoSpace) {
			w.disks[p.Volume].uncounted += before - c.data.inUse()
		}
	}
}

// counted returns the size in use that a member reports, which may be outdated.
func counted(w *World, p *process) int64 {
	return p.cluster.data.inUse() + w.disks[p.Volume].uncounted
}

// Defragment frees the unused space of a member. Meanwhile the member does not answer.
func (s *store) Defragment(ctx context.Context, endpoint string) error {
	return s.call(ctx, "Defragment", []string{endpoint}, func(p *process) (bool, error) {
		w := s.world
		mayBlock(w, p)
		p.busy = true
		w.pass(ctx, w.DefragmentationTakes)
		p.busy = false
		if p.cluster == nil { // the member was removed during the defragmentation
			return true, errRefused
		}
		w.disks[p.Volume].size, w.disks[p.Volume].uncounted = p.cluster.data.inUse(), 0
		return true, nil
	})
}

// mayBlock records a violation if a defragmentation blocks a voter while another voter does not answer.
func mayBlock(w *World, p *process) {
	c, left := p.cluster, 0
	for _, other := range w.processes.up(c) {
		if other != p && !other.busy && !c.member(other.id).Learner {
			left++
		}
	}
	if n := len(c.voters()); n > 1 && !c.member(p.id).Learner && left < n-1 {
		w.violated("%s is blocked while only %d of %d other voters respond", p.Name, left, n-1)
	}
}

// pass waits for a time without holding the lock.
func (w *World) pass(ctx context.Context, while time.Duration) {
	if while == 0 {
		return
	}
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-time.After(while):
	case <-ctx.Done():
	}
}

// Disarm clears an alarm.
func (s *store) Disarm(ctx context.Context, alarm etcd.Alarm) error {
	return s.agreed(ctx, "Disarm", func(c *cluster) error {
		mayDisarm(s.world, c, alarm)
		c.alarms = slices.DeleteFunc(c.alarms, func(a etcd.Alarm) bool { return a == alarm })
		c.index++
		return nil
	})
}

// mayDisarm records a violation if an alarm is cleared although its cause persists.
func mayDisarm(w *World, c *cluster, alarm etcd.Alarm) {
	for _, p := range w.processes.up(c) {
		on := w.disks[p.Volume]
		if p.id == alarm.Member && (alarm.Kind == etcd.AlarmNoSpace && on.size >= w.quota() || alarm.Kind == etcd.AlarmCorrupt && on.corrupt) {
			w.violated("alarm %s is cleared, and its cause at %s persists", alarm.Kind, p.Name)
		}
	}
}

// Hash returns the checksum of a member's keys.
func (s *store) Hash(ctx context.Context, endpoint string) (hash etcd.Hash, err error) {
	err = s.call(ctx, "Hash", []string{endpoint}, func(p *process) (bool, error) {
		d := p.cluster.data
		hash = etcd.Hash{Sum: uint32(d.inUse()), Revision: d.revision, Compacted: d.compacted}
		if s.world.disks[p.Volume].corrupt {
			hash.Sum++
		}
		return true, nil
	})
	return hash, err
}
