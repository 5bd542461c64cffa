// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"time"
)

// Look reads all servers concurrently. It reads the progress of a slot move first: if the move has ended, the servers
// are read after its end.
func (l *looker) Look(ctx context.Context, before View) View {
	view := View{At: l.Clock().Now(), Move: l.moves.Progress()}
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
	// eager is the interval between two reads while something is wrong or in progress. rested is the interval
	// otherwise.
	eager  = 250 * time.Millisecond
	rested = 2 * time.Second
)

// DefaultInterval returns how long to wait between two reads of a cluster.
func DefaultInterval(view View) time.Duration {
	if view.Err != nil || view.Stale || view.Moving() || len(view.Nodes) == 0 || len(view.Passing) > 0 || view.redirecting() {
		return eager
	}
	for _, status := range view.Nodes {
		if !settled(status) {
			return eager
		}
	}
	return rested
}

// settled reports whether no change of a server is expected soon.
func settled(s NodeStatus) bool {
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
