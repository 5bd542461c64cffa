// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"time"
)

// look asks each process how it is, all at a time. How far a move is is noted before that:
// when it is said to have ended, what the processes say is what it has left behind.
func (c *cluster) look(ctx context.Context) View {
	view := View{At: c.clock.Now(), Move: c.moves.progress()}
	store, done, err := c.use()
	if err != nil {
		view.Err = err
		return view
	}
	defer done()
	round := c.begin(ctx, store)
	target := c.aimed()
	round.ask(target.Addresses()...)
	view.Nodes = round.wait(c.clock)
	c.remember(target, view.Nodes)
	return view
}

const (
	// eager is between two looks while something is amiss or under way; rested, else.
	eager  = 250 * time.Millisecond
	rested = 2 * time.Second
)

// DefaultInterval is the time between two looks.
func DefaultInterval(view View) time.Duration {
	if view.Err != nil || view.Stale || view.Moving() || len(view.Nodes) == 0 || len(view.Passing) > 0 {
		return eager
	}
	for _, status := range view.Nodes {
		if !status.settled() {
			return eager
		}
	}
	return rested
}

// settled tells whether a process has no reason to look otherwise in a moment.
func (s NodeStatus) settled() bool {
	if !s.Answers() || !s.ClusterOK || len(s.Migrating)+len(s.Importing)+len(s.Jobs) > 0 || s.Role == Replica && !s.LinkUp {
		return false
	}
	for _, peer := range s.Known {
		if peer.Handshake || peer.Failing || peer.Failed || !peer.Myself && !peer.Connected {
			return false
		}
	}
	return true
}
