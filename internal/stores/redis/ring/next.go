// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// rules returns the rules in order of urgency. The first rule that has a step decides.
func rules() []rule {
	return []rule{
		seen,      // stops everything while the view is stale
		admit,     // lets replicas copy new processes, whatever else is wrong
		distinct,  // stops everything while two processes have one ID
		create,    // gives epochs to the processes of a new cluster
		renew,     // gives a new ID to processes that left and came back
		introduce, // introduces processes that do not know another's address
		takeover,  // replaces primaries that no election can replace
		giveUp,    // removes primaries whose data the user has given up
		assign,    // assigns the slots of a new cluster, and those that were given up
		moving,    // waits for slots that are being moved, as do all later rules
		afterFailure,
		settle,    // finishes moves that were interrupted
		failback,  // makes homes the primary again
		handover,  // makes the guest the primary before its primary is stopped
		replicate, // makes processes follow the primary of their shard
		forget,    // forgets processes that have been replaced
		balance,   // moves slots out of pods that leave, and evenly over those that stay
		leave,     // removes emptied processes from the cluster
		serving,   // takes no step, and reports processes that are missing
	}
}

// Next decides on the next step. The step is nil if there is nothing to do, or if Why names what the ring waits for.
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
		return halt(Unseen, "the cluster must have at least one pod, not %d", in.nodes)
	case in.view.Err != nil:
		return halt(Unseen, "opcrew could not reach any server: %v", in.view.Err)
	case in.view.Stale:
		return halt(Unseen, "opcrew has just changed the cluster, and reads all servers again first")
	}
	return verdict{}
}

func distinct(in *input) verdict {
	first := map[string]*proc{}
	for _, p := range in.answering() {
		if other, twice := first[p.status.ID]; twice {
			return halt(Twins, "%s and %s have the same ID %s: check whether one of them runs on a copy of the other's volume", other, p, p.status.ID)
		}
		first[p.status.ID] = p
	}
	return verdict{}
}
