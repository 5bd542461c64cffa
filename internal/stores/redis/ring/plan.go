// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"errors"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// mostFailures is the number of failures in a row after which slots are moved key by key, whatever the reason for the
// failures.
const mostFailures = 3

func newPlan(in *input) redis.MoveSlots {
	primaries := in.primaries()
	return redis.MoveSlots{
		Bare: bare(primaries), Goal: in.nodes, Shards: len(in.leaders()), BytesPerSecond: in.rate, Spread: spreads(in.view.Move, primaries),
	}
}

// spreads reports whether a move uses several connections, because a server answers only when its replicas have
// executed a command. After a failure a move uses one connection, as the server may have no room for more.
func spreads(last *redis.Progress, primaries []*proc) bool {
	failed := last != nil && last.Failures > 0
	return !failed && slices.ContainsFunc(primaries, func(p *proc) bool { return p.status.Version.AwaitsReplicas() })
}

// bare returns the IDs of the primaries that have no slots.
func bare(primaries []*proc) []string {
	var out []string
	for _, p := range primaries {
		if len(p.status.Slots) == 0 {
			out = append(out, p.status.ID)
		}
	}
	return out
}

// byJobs reports whether slots are moved by jobs of the servers: all servers have jobs of the same kind, and the last
// attempt did not fail too often. A replica without jobs would not understand what its primary sends it about a job.
func byJobs(last *redis.Progress, procs []*proc, valkey bool) bool {
	if last != nil && (errors.Is(last.Err, redis.ErrNoJobs) || last.Failures >= mostFailures) {
		return false
	}
	return !slices.ContainsFunc(procs, func(p *proc) bool {
		return !p.gone && (!p.status.Version.HasJobs() || p.status.Version.Valkey != valkey)
	})
}

// afterFailure reports why the last move of slots failed, until the next move may begin.
func afterFailure(in *input) verdict {
	if !pausing(in.view) {
		return verdict{}
	}
	return refuse(Moving, "a move of slots failed and is retried after %s: %v", pause(in.view.Move.Failures), in.view.Move.Err)
}

// pausing reports whether a move failed so recently that the next must wait.
func pausing(view redis.View) bool {
	move := view.Move
	return move != nil && move.Failed() && view.At.Before(move.EndedAt.Add(pause(move.Failures)))
}

// pause returns how long to wait after a move that failed. It grows with the number of failures, because their cause is
// likely still there.
func pause(failures int) time.Duration {
	const first, most = 2 * time.Second, 16 * time.Second
	return min(most, first<<min(10, max(0, failures-1)))
}
