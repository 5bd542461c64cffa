// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// input holds what the rules decide on: a view, arranged by pod and place.
type input struct {
	processes
	gaps
	view redis.View
	// rate is the desired rate of slot moves. paused reports that nothing may be changed.
	rate   int64
	paused bool
	// closes reports that open slots are closed before the step is taken.
	closes bool
}

func survey(view redis.View, ring Ring) *input {
	in := &input{processes: newProcesses(view, ring), view: view, rate: ring.Rate, paused: ring.Paused}
	in.gaps = findGaps(in.answering(), in.byID, view.Passing)
	in.accepted = ring.GivenUp
	return in
}

// election returns why a primary may be about to be elected, or "".
func (in *input) election() string {
	for _, id := range sortedKeys(in.lost) {
		return fmt.Sprintf("slots %s belong to primary %s, which does not answer", brief(in.lost[id]), id)
	}
	for _, p := range in.answering() {
		if p.status.Role != redis.Replica {
			continue
		}
		if primary := in.byID[p.status.PrimaryID]; primary == nil || primary.status.Role != redis.Primary {
			return fmt.Sprintf("%s replicates %s, and no primary with this ID answers", p, p.status.PrimaryID)
		}
	}
	return ""
}

// served reports whether the processes that answer serve all slots.
func (in *input) served() bool {
	return len(in.lost) == 0 && len(in.unowned) == 0 && len(in.view.Passing) == 0
}

// quorum counts the slot owners that answer, and all slot owners.
func (in *input) quorum() (answer, all int) {
	answer = len(in.leaders())
	return answer, answer + len(in.lost)
}
