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

var (
	errRefused = errors.New("connection refused")
	errClosed  = errors.New("the connections have been closed")
)

// store is the connection of one client.
type store struct {
	world  *World
	target etcd.Target
	closed bool
}

// Dial is an etcd.Dialer.
func (w *World) Dial(target etcd.Target) (etcd.Store, error) {
	return &store{world: w, target: target}, nil
}

// Close ends the connection.
func (s *store) Close() error {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.closed = true
	return nil
}

// Members lists the members, by a quorum.
func (s *store) Members(ctx context.Context) (id uint64, members []etcd.Member, err error) {
	err = s.agreed(ctx, "Members", func(c *cluster) error {
		for _, p := range s.world.up(c) {
			c.member(p.id).looks++
		}
		c.looks++
		id, members = c.id, c.list()
		return nil
	})
	return id, members, err
}

// Status asks one member, whatever the others do.
func (s *store) Status(ctx context.Context, endpoint string) (status etcd.MemberStatus, err error) {
	err = s.call(ctx, "Status", []string{endpoint}, func(p *process) (bool, error) {
		c := p.cluster
		status = etcd.MemberStatus{
			ID: p.id, ClusterID: c.id, Version: p.Version, Leader: c.leader,
			RaftIndex: c.index, RaftTerm: c.term, Applied: c.index, Learner: c.member(p.id).Learner,
			Revision: c.data.revision, DBSize: s.world.disks[p.Volume].size, DBInUse: s.world.counted(p), Quota: s.world.quota(),
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

// ClusterVersion asks one member, too. What it says comes out of its log.
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

// AddLearner adds a member without a vote.
func (s *store) AddLearner(ctx context.Context, peerURL string) (etcd.Member, error) {
	return s.add(ctx, "AddLearner", peerURL, true)
}

// AddVoter adds a member with one.
func (s *store) AddVoter(ctx context.Context, peerURL string) (etcd.Member, error) {
	return s.add(ctx, "AddVoter", peerURL, false)
}

func (s *store) add(ctx context.Context, call, peerURL string, learner bool) (added etcd.Member, err error) {
	err = s.agreed(ctx, call, func(c *cluster) error {
		if err := s.world.mayAdd(c, peerURL, learner); err != nil {
			return err
		}
		s.world.additions++
		id := etcd.BootstrapID([]string{peerURL}, fmt.Sprint(s.world.additions)) // etcd takes the time
		added = etcd.Member{ID: id, PeerURLs: []string{peerURL}, Learner: learner}
		c.members = append(c.members, &member{Member: added})
		c.changed("%s %s", call, peerURL)
		return nil
	})
	if err != nil {
		return etcd.Member{}, err
	}
	return added, nil
}

// Promote gives a learner a vote.
func (s *store) Promote(ctx context.Context, id uint64) error {
	return s.agreed(ctx, "Promote", func(c *cluster) error {
		m, err := s.world.mayPromote(c, id)
		if err == nil {
			m.Learner = false
			c.changed("Promote %s", m.PeerURLs[0])
		}
		return err
	})
}

// Remove takes a member out; its process ends.
func (s *store) Remove(ctx context.Context, id uint64) error {
	return s.agreed(ctx, "Remove", func(c *cluster) error {
		m, err := s.world.mayRemove(c, id)
		if err != nil {
			return err
		}
		c.members = slices.DeleteFunc(c.members, func(other *member) bool { return other == m })
		for _, p := range s.world.processes {
			if p.cluster == c && p.id == id {
				p.cluster, p.serving = nil, false
			}
		}
		c.changed("Remove %s", m.PeerURLs[0])
		return nil
	})
}

// MoveLeader has the leader hand over.
func (s *store) MoveLeader(ctx context.Context, leaderEndpoint string, to uint64) error {
	return s.call(ctx, "MoveLeader", []string{leaderEndpoint}, func(p *process) (bool, error) {
		switch c := p.cluster; {
		case c.leader != p.id:
			return true, etcd.ErrNotLeader
		case !slices.Contains(s.world.voting(c), to):
			return true, errors.New("etcdserver: bad leader transferee")
		default:
			c.lead(to)
			c.changes = append(c.changes, "MoveLeader "+c.member(to).PeerURLs[0])
			return true, nil
		}
	})
}

// Advance has the log get longer. It does so at once, by no more than AdvanceMost.
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

// agreed makes a call that needs a quorum and can be made to any voter.
func (s *store) agreed(ctx context.Context, name string, effect func(*cluster) error) error {
	return s.call(ctx, name, s.target.Endpoints, func(p *process) (bool, error) {
		if p.cluster.leader == 0 {
			return false, nil
		}
		return true, effect(p.cluster)
	})
}

// ofOne are the calls that go to one member, a learner too.
var ofOne = map[string]bool{"Status": true, "ClusterVersion": true, "MoveLeader": true, "Defragment": true, "Hash": true}

// call makes a call to the first of the endpoints that answers. What is not answered
// takes as long as the context lasts.
func (s *store) call(ctx context.Context, name string, endpoints []string, effect func(*process) (answered bool, err error)) error {
	w := s.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.closed {
		return errClosed
	}
	p, hung := w.serving(endpoints, ofOne[name])
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p == nil && hung:
		return w.silence(ctx)
	case p == nil:
		return fmt.Errorf("%v: %w", endpoints, errRefused)
	}
	fault := w.strike(name, p)
	if fault != nil && !fault.After {
		return w.fail(ctx, fault)
	}
	c := p.cluster // which a member that is removed leaves
	answered, err := effect(p)
	w.begin()
	w.settleOf(c)
	switch {
	case fault != nil:
		return w.fail(ctx, fault)
	case !answered:
		return w.silence(ctx)
	}
	return err
}

// serving is the first process behind the endpoints that answers, or else reports whether
// one hangs.
func (w *World) serving(endpoints []string, learners bool) (*process, bool) {
	hung := false
	for _, endpoint := range endpoints {
		for _, p := range w.processes {
			switch {
			case address(p.ClientURL) != address(endpoint) || !p.serving:
			case p.hung, p.busy:
				hung = true
			case learners || !p.cluster.member(p.id).Learner:
				return p, false
			}
		}
	}
	return nil, hung
}

// silence waits until the caller gives up.
func (w *World) silence(ctx context.Context) error {
	w.mu.Unlock()
	defer w.mu.Lock()
	<-ctx.Done()
	return ctx.Err()
}
