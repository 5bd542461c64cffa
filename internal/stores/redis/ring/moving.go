// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// moving waits until a move of slots has ended, or stops the move.
func moving(in *input) verdict {
	if !in.view.Moving() {
		return jobs(in.primaries())
	}
	move := in.view.Move
	if move.Stopping {
		return halt(Moving, "slots are being moved: %d of %d are done, and the move is about to stop", move.Moved, move.Slots)
	}
	if reason := stops(in, move); reason != "" {
		return take(redis.StopMove{}, "stop the move of slots: %s", reason)
	}
	return halt(Moving, "slots are being moved: %d of %d are done", move.Moved, move.Slots)
}

// stops returns why a move of slots must be stopped before it is done; "" if it may continue. A move may take hours, so
// a failover, for example, does not wait for its end. The move is continued afterwards.
func stops(in *input, move *redis.Progress) string {
	switch {
	case in.paused:
		return "the cluster is paused"
	case move.Goal != in.nodes:
		return fmt.Sprintf("the move is for %d pods, but the spec requests %d", move.Goal, in.nodes)
	case move.BytesPerSecond != in.rate:
		return "the spec requests another rate"
	}
	for _, end := range move.Ends {
		if p := in.byID[end.ID]; p != nil && in.handsOver(p) {
			return fmt.Sprintf("%s is about to be stopped", p)
		}
	}
	stopped := *in
	stopped.closes = true
	for _, look := range []rule{failback, handover, replicate} {
		if found := look(&stopped); found.step != nil {
			return found.doing + " first"
		}
	}
	return ""
}

// jobs waits for slot migration jobs that the servers still run, for example for an earlier operator process. It
// cancels a job that the servers would retry forever.
func jobs(primaries []*proc) verdict {
	for _, p := range primaries {
		if len(p.status.Jobs) == 0 {
			continue
		}
		job := p.status.Jobs[0]
		if job.Retried {
			return take(redis.CancelJob{Address: p.Address, Name: job.Name}, "cancel a slot migration job of %s that keeps failing: %s", p, job.Message)
		}
		return halt(Moving, "slots %s are moved by a job of %s in state %s", brief(job.Slots), p, job.State)
	}
	return verdict{}
}
