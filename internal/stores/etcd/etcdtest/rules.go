// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// mayAdd applies etcd's checks before a member is added, including those of --strict-reconfig-check.
func mayAdd(w *World, c *cluster, peerURL string, learner bool) error {
	voters, connected := len(c.voters()), len(w.processes.voting(c))
	switch {
	case c.byPeerURL(peerURL) != nil:
		return etcd.ErrPeerURLExists
	case learner && len(c.members) > voters:
		return etcd.ErrTooManyLearners
	case !learner && voters > 1 && c.started(0) < quorum(voters+1):
		return etcd.ErrUnhealthy
	case w.AllConnected && connected < voters:
		return etcd.ErrUnhealthy
	case voters > 1 && connected < quorum(voters+1):
		return etcd.ErrUnhealthy // the new voter counts for the quorum, but is not running yet
	}
	return nil
}

// mayPromote applies etcd's checks before a promotion. Like etcd, it does not check whether a learner that has caught
// up is still running.
func mayPromote(w *World, c *cluster, id uint64) (*member, error) {
	m := c.member(id)
	switch {
	case m == nil:
		return nil, etcd.ErrMemberNotFound
	case !m.Learner:
		return nil, etcd.ErrNotLearner
	case !m.Started() || m.looks < w.LearnerLooks:
		return nil, etcd.ErrLearnerNotReady
	case c.started(0)+1 < quorum(len(c.voters())+1):
		return nil, etcd.ErrUnhealthy
	}
	return m, nil
}

func mayRemove(w *World, c *cluster, id uint64) (*member, error) {
	m, voting := c.member(id), w.processes.voting(c)
	if m == nil {
		return nil, etcd.ErrMemberNotFound
	}
	runs := false
	for _, other := range voting {
		runs = runs || other == id
	}
	left := len(c.voters()) - 1
	switch {
	case m.Learner:
	case c.started(id) < quorum(left):
		return nil, etcd.ErrUnhealthy
	case runs && len(voting)-1 < quorum(left):
		return nil, etcd.ErrUnhealthy
	}
	return m, nil
}

// changed records a change of the members for World.Changes.
func (c *cluster) changed(format string, args ...any) {
	c.changes = append(c.changes, fmt.Sprintf(format, args...))
	c.index++
}
