// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// input holds everything that the rules need: the view, sorted by pod, and the desired state.
type input struct {
	processes
	gaps
	view redis.View
	// rate is the maximum rate of slot moves in bytes per second. paused reports that nothing may be changed.
	rate   int64
	paused bool
	// closes reports whether the operator must end interrupted slot moves before it takes another step.
	closes bool
}

func survey(view redis.View, ring Ring) *input {
	in := &input{processes: newProcesses(view, ring), view: view, rate: ring.Rate, paused: ring.Paused}
	in.gaps = findGaps(in.answering(), in.byID, view.Passing)
	in.accepted = ring.GivenUp
	return in
}

// election returns why a replica may be about to be elected; "" if no election is expected.
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

// served reports whether the answering servers serve all slots.
func (in *input) served() bool {
	return len(in.lost) == 0 && len(in.unowned) == 0 && len(in.view.Passing) == 0
}

// quorum returns how many slot owners answer, and how many there are.
func (in *input) quorum() (answer, all int) {
	answer = len(in.leaders())
	return answer, answer + len(in.lost)
}
