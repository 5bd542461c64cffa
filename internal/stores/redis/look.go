// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"time"
)

// Look asks each process how it is, all at the same time. The progress of a move is read before that: when the move is
// reported as ended, the answers show what it left behind.
func (l *looker) Look(ctx context.Context, before View) View {
	view := View{At: l.Clock().Now(), Move: l.moves.progress()}
	store, done, err := l.Use()
	if err != nil {
		view.Err = err
		return view
	}
	defer done()
	target := l.Target()
	round := l.rounds.Begin(ctx, store, store.Status)
	round.Ask(target.Addresses()...)
	view.Nodes = statuses(round.Wait())
	l.countRedirects(view.At, target, view.Nodes)
	l.remember(target, view.Nodes)
	view.Passing = view.passing(before)
	return view
}

const (
	// eager is between two looks while something is amiss or under way; rested, else.
	eager  = 250 * time.Millisecond
	rested = 2 * time.Second
)

// DefaultInterval is the time between two looks.
func DefaultInterval(view View) time.Duration {
	if view.Err != nil || view.Stale || view.Moving() || len(view.Nodes) == 0 || len(view.Passing) > 0 || view.redirecting() {
		return eager
	}
	for _, status := range view.Nodes {
		if !status.settled() {
			return eager
		}
	}
	return rested
}

// settled reports whether a process has no reason to look otherwise in a moment.
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
