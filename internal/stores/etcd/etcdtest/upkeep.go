// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Compact throws history away.
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
		s.world.compact(c, revision)
		c.changed("Compact %d", revision)
		return nil
	})
}

// compact throws it away on all members. While writes are refused, those that follow go on telling what was in
// use before: etcd counts that when it commits, and what one commit frees only with the next.
func (w *World) compact(c *cluster, revision int64) {
	before := c.data.inUse()
	c.data.compact(revision)
	for _, p := range w.up(c) {
		if p.id != c.leader && c.alarmed(etcd.AlarmNoSpace) {
			w.disks[p.Volume].uncounted += before - c.data.inUse()
		}
	}
}

// counted is what a member says is in use.
func (w *World) counted(p *process) int64 {
	return p.cluster.data.inUse() + w.disks[p.Volume].uncounted
}

// Defragment has a member give back what is free. It answers no one meanwhile.
func (s *store) Defragment(ctx context.Context, endpoint string) error {
	return s.call(ctx, "Defragment", []string{endpoint}, func(p *process) (bool, error) {
		w := s.world
		w.mayBlock(p)
		p.busy = true
		w.pass(ctx, w.DefragmentationTakes)
		p.busy = false
		if p.cluster == nil { // it was taken out meanwhile
			return true, errRefused
		}
		w.disks[p.Volume].size, w.disks[p.Volume].uncounted = p.cluster.data.inUse(), 0
		return true, nil
	})
}

// mayBlock reports a member that is blocked while the others are too few without it.
func (w *World) mayBlock(p *process) {
	c, left := p.cluster, 0
	for _, other := range w.up(c) {
		if other != p && !other.busy && !c.member(other.id).Learner {
			left++
		}
	}
	if n := len(c.voters()); n > 1 && !c.member(p.id).Learner && left < n-1 {
		w.violated("%s is blocked while only %d of %d others answer", p.Name, left, n-1)
	}
}

// pass lets time pass, in which others have the world.
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

// Disarm takes an alarm back.
func (s *store) Disarm(ctx context.Context, alarm etcd.Alarm) error {
	return s.agreed(ctx, "Disarm", func(c *cluster) error {
		s.world.mayDisarm(c, alarm)
		c.alarms = slices.DeleteFunc(c.alarms, func(a etcd.Alarm) bool { return a == alarm })
		c.index++
		return nil
	})
}

// mayDisarm reports an alarm that is taken back while what it was raised for is still so.
func (w *World) mayDisarm(c *cluster, alarm etcd.Alarm) {
	for _, p := range w.up(c) {
		on := w.disks[p.Volume]
		if p.id == alarm.Member && (alarm.Kind == etcd.AlarmNoSpace && on.size >= w.quota() || alarm.Kind == etcd.AlarmCorrupt && on.corrupt) {
			w.violated("alarm %s is taken back, and %s is as it was", alarm.Kind, p.Name)
		}
	}
}

// Hash says what the keys of a member add up to.
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
