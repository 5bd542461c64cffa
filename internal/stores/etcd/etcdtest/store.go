// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// store is the connection of one client to the simulated clusters.
type store struct {
	world  *World
	target etcd.Target
	closed bool
}

// Dial implements etcd.Dialer.
func (w *World) Dial(target etcd.Target) (etcd.Store, error) {
	return &store{world: w, target: target}, nil
}

// Close closes the connection.
func (s *store) Close() error {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.closed = true
	return nil
}

// Members lists the members. It needs a quorum.
func (s *store) Members(ctx context.Context) (id uint64, members []etcd.Member, err error) {
	err = s.agreed(ctx, "Members", func(c *cluster) error {
		for _, p := range s.world.processes.up(c) {
			c.member(p.id).looks++
		}
		c.looks++
		id, members = c.id, c.list()
		return nil
	})
	return id, members, err
}

// Status returns the status of one member. It needs no quorum.
func (s *store) Status(ctx context.Context, endpoint string) (status etcd.MemberStatus, err error) {
	err = s.call(ctx, "Status", []string{endpoint}, func(p *process) (bool, error) {
		c := p.cluster
		status = etcd.MemberStatus{
			ID: p.id, ClusterID: c.id, Version: p.Version, Leader: c.leader,
			RaftIndex: c.index, RaftTerm: c.term, Applied: c.index, Learner: c.member(p.id).Learner,
			Revision: c.data.revision, DBSize: s.world.disks[p.Volume].size, DBInUse: counted(s.world, p), Quota: s.world.quota(),
		}
		for _, alarm := range c.alarms {
			status.Errors = append(status.Errors, fmt.Sprintf("memberID:%d alarm:%s", alarm.Member, alarm.Kind))
		}
		if c.leader == 0 {
			status.Errors = []string{"etcdserver: no leader"}
		}
		return true, nil
	})
	if err != nil {
		return etcd.MemberStatus{Err: err}, err
	}
	return status, nil
}

// ClusterVersion returns the cluster version that one member reports. It needs no quorum.
func (s *store) ClusterVersion(ctx context.Context, endpoint string) (version string, err error) {
	err = s.call(ctx, "ClusterVersion", []string{endpoint}, func(p *process) (bool, error) {
		version = p.cluster.version
		return true, nil
	})
	if err != nil {
		return "", err
	}
	return version, nil
}

// MoveLeader makes another member the leader.
func (s *store) MoveLeader(ctx context.Context, leaderEndpoint string, to uint64) error {
	return s.call(ctx, "MoveLeader", []string{leaderEndpoint}, func(p *process) (bool, error) {
		switch c := p.cluster; {
		case c.leader != p.id:
			return true, etcd.ErrNotLeader
		case !slices.Contains(s.world.processes.voting(c), to):
			return true, errors.New("etcdserver: bad leader transferee")
		default:
			c.lead(to)
			c.changes = append(c.changes, "MoveLeader "+c.member(to).PeerURLs[0])
			return true, nil
		}
	})
}

// Advance adds log entries, at most AdvanceMost per call.
func (s *store) Advance(ctx context.Context, entries uint64) error {
	return s.agreed(ctx, "Advance", func(c *cluster) error {
		if most := s.world.AdvanceMost; most > 0 {
			entries = min(entries, most)
		}
		c.index += entries
		s.world.advanced += entries
		return nil
	})
}

// agreed sends a call to any voter. The call gets no answer without a quorum.
func (s *store) agreed(ctx context.Context, name string, effect func(*cluster) error) error {
	return s.call(ctx, name, s.target.Endpoints, func(p *process) (bool, error) {
		if p.cluster.leader == 0 {
			return false, nil
		}
		return true, effect(p.cluster)
	})
}

// ofOne lists the calls that go to one given member, which may be a learner.
var ofOne = map[string]bool{"Status": true, "ClusterVersion": true, "MoveLeader": true, "Defragment": true, "Hash": true}

// call sends a call to the first endpoint that answers. If the process is unresponsive, the call lasts until its
// context ends.
func (s *store) call(ctx context.Context, name string, endpoints []string, effect func(*process) (answered bool, err error)) error {
	w := s.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.closed {
		return errClosed
	}
	p, hung := w.processes.serving(endpoints, ofOne[name])
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p == nil && hung:
		return w.silence(ctx)
	case p == nil:
		return fmt.Errorf("%v: %w", endpoints, errRefused)
	}
	fault := strike(w, name, p)
	if fault != nil && !fault.After {
		return fail(ctx, w, fault)
	}
	c := p.cluster // read here, because effect may remove the member from its cluster
	answered, err := effect(p)
	w.begin()
	settleOf(w, c)
	switch {
	case fault != nil:
		return fail(ctx, w, fault)
	case !answered:
		return w.silence(ctx)
	}
	return err
}
