// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// rules are in the order of urgency: the first that has a step has it taken.
func rules() []rule {
	return []rule{
		seen,      // nothing is done on a stale view
		admit,     // processes that replicas may copy, whatever else is wrong
		distinct,  // nothing is done while two processes have one ID
		create,    // number the processes of a new cluster
		renew,     // processes that were in the cluster before
		introduce, // processes that do not know where another is
		takeover,  // shards that no election can restore
		giveUp,    // primaries whose data the user has given up
		assign,    // the slots of a new cluster, and those that were given up
		moving,    // the rest waits for slots that are on their way
		afterFailure,
		settle,    // slots that a move has left open
		failback,  // the lead returns to the home
		handover,  // and leaves a home that is about to be stopped
		replicate, // processes that follow no primary, or the wrong one
		forget,    // processes that have been replaced
		balance,   // move slots: out of pods that leave, and evenly over those that stay
		leave,     // take emptied processes out
		serving,   // and report those that are missing
	}
}

// Next decides the next step. It is nil when there is nothing to do, or when Why names what the ring waits for.
func Next(view redis.View, wanted Ring) (Step, Why) {
	in := survey(view, wanted)
	var found verdict
	for _, look := range rules() {
		found.add(look(in))
		if found.step != nil || found.halt {
			break
		}
	}
	return found.step, Why{Doing: found.doing, Refusals: found.refusals}
}

func seen(in *input) verdict {
	switch {
	case in.nodes < 1:
		return halt(Unseen, "a ring has at least one pod, and not %d", in.nodes)
	case in.view.Err != nil:
		return halt(Unseen, "no process could be asked: %v", in.view.Err)
	case in.view.Stale:
		return halt(Unseen, "a step has just been taken")
	}
	return verdict{}
}

func distinct(in *input) verdict {
	first := map[string]*proc{}
	for _, p := range in.answering() {
		if other, twice := first[p.status.ID]; twice {
			return halt(Twins, "%s and %s are both %s: does one run on a copy of the other's data?", other, p, p.status.ID)
		}
		first[p.status.ID] = p
	}
	return verdict{}
}
