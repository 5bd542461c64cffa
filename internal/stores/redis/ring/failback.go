// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// failback makes the usual primary of each shard (the home server) the primary again, after a failover to the shard's
// replica (the guest server).
func failback(in *input) verdict {
	var out verdict
	for _, home := range in.all {
		guest := in.byID[home.status.PrimaryID]
		if home.Place != redis.Home || home.yields || !home.replica() {
			continue
		}
		if guest == nil || guest.Place != redis.Guest || !guest.leads() {
			continue
		}
		if found := mayLead(in, home, guest); found.refusals != nil {
			out.add(found)
			continue
		}
		out.add(take(redis.TakeLead{Address: home.Address}, "%s becomes the primary again in place of %s", home, guest))
	}
	return out
}

// handover makes the replica of a shard (the guest server) the primary before the current primary's pod is stopped.
// Clients then wait for less than a second instead of for an election.
func handover(in *input) verdict {
	var out verdict
	for i := range in.nodes {
		home, guest := in.home(i), in.guest(i)
		if !home.yields || !home.leads() || guest.Pod == home.Pod || guest.yields || !guest.follows(home.id()) {
			continue
		}
		if found := mayLead(in, guest, home); found.refusals != nil {
			out.add(found)
			continue
		}
		out.add(take(redis.TakeLead{Address: guest.Address}, "%s hands the primary role over to %s", home, guest))
	}
	return out
}
