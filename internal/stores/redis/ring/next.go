// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// rules returns the rules in order of urgency. The first rule that has a step decides.
func rules() []rule {
	return []rule{
		seen,      // takes no step while the view of the servers is outdated
		admit,     // lets replicas copy new servers, whatever else is wrong
		distinct,  // takes no step while two servers have the same ID
		create,    // gives epochs to the servers of a new cluster
		renew,     // gives a new ID to servers that left and came back
		introduce, // introduces servers that do not know each other's addresses
		takeover,  // replaces lost primaries that no election can replace
		giveUp,    // removes lost primaries whose loss the user has accepted
		assign,    // assigns slots of a new cluster, and slots whose loss is accepted
		moving,    // waits while slots are being moved; all later rules wait too
		afterFailure,
		settle,    // finishes interrupted moves
		failback,  // makes servers primaries again after a failover
		handover,  // makes a replica the primary before its primary is stopped
		replicate, // makes servers follow the primary of their shard
		outrank,   // lets all servers learn that a server has become a replica
		forget,    // removes lost servers from the node tables
		balance,   // moves slots away from surplus pods, and distributes them evenly over the others
		leave,     // removes emptied servers from the cluster
		serving,   // takes no step, and reports missing servers
	}
}

// Next decides on the next step. The step is nil if the cluster is as desired, or if every step must wait. Why says
// what the waiting steps wait for.
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
