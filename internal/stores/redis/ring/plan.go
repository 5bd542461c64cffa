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

// spreads reports whether a move of slots sends its commands over several connections. It does if some server answers
// CLUSTER SETSLOT only after its replicas have executed it. After a failure, the next move uses one connection, because
// the server may have no room for more.
func spreads(last *redis.Progress, primaries []*proc) bool {
	failed := last != nil && last.Failures > 0
	return !failed && slices.ContainsFunc(primaries, func(p *proc) bool { return p.status.Version.AwaitsReplicas() })
}

// bare returns the IDs of the primaries without slots.
func bare(primaries []*proc) []string {
	var out []string
	for _, p := range primaries {
		if len(p.status.Slots) == 0 {
			out = append(out, p.status.ID)
		}
	}
	return out
}

// byJobs reports whether slots are moved with slot migration jobs. All servers, even replicas, must support the same
// kind of jobs, and the last attempts must not have failed too often.
func byJobs(last *redis.Progress, procs []*proc, valkey bool) bool {
	if last != nil && (errors.Is(last.Err, redis.ErrNoJobs) || last.Failures >= mostFailures) {
		return false
	}
	return !slices.ContainsFunc(procs, func(p *proc) bool {
		return !p.gone && (!p.status.Version.HasJobs() || p.status.Version.Valkey != valkey)
	})
}

// afterFailure reports why the last move of slots failed, until the next move may start.
func afterFailure(in *input) verdict {
	if !pausing(in.view) {
		return verdict{}
	}
	return refuse(Moving, "a move of slots failed and is retried after %s: %v", pause(in.view.Move.Failures), in.view.Move.Err)
}

// pausing reports whether a move failed so recently that the next one must wait.
func pausing(view redis.View) bool {
	move := view.Move
	return move != nil && move.Failed() && view.At.Before(move.EndedAt.Add(pause(move.Failures)))
}

// pause returns how long to wait after a failed move. It grows with the number of failures, because their cause
// probably persists.
func pause(failures int) time.Duration {
	const first, most = 2 * time.Second, 16 * time.Second
	return min(most, first<<min(10, max(0, failures-1)))
}
