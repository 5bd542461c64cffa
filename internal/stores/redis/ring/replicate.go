// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// replicate makes the second server of each shard follow the shard's primary.
func replicate(in *input) verdict {
	var out verdict
	for i := range in.nodes {
		leader := in.leader(i)
		if leader == nil {
			continue
		}
		for _, p := range []*proc{in.home(i), in.guest(i)} {
			if p != leader && p.answers && p.status.PrimaryID != leader.id() {
				out.add(follow(in, p, leader))
			}
		}
		if p := in.other(i, leader); p.follows(leader.id()) && !p.status.LinkUp {
			out.add(reconnect(p, leader))
		}
	}
	return out
}

// reconnect makes a replica connect to its primary's current address. A Redis server that learns the address from a
// third server updates its node table, but still connects to the old address (redis/redis#13572). Valkey does both.
// A replica without any address takes it from its node table by itself.
func reconnect(p, leader *proc) verdict {
	if p.status.Source == "" || p.status.Source == leader.Address || !p.knows(leader) {
		return refuse(InSync, "%s has not copied all data of %s yet", p, leader)
	}
	return take(redis.Replicate{Address: p.Address, PrimaryID: leader.id()}, "%s connects to the current address of %s", p, leader)
}

// serving takes no step. It reports servers that should run but do not answer, or that consider the cluster down.
func serving(in *input) verdict {
	var out verdict
	for _, p := range in.all {
		switch {
		case p.leaves:
		case !p.answers:
			out.add(refuse(Silent, "%s %s", p, p.trouble()))
		case !p.status.ClusterOK:
			out.add(refuse(Serving, "%s considers the cluster down", p))
		}
	}
	return out
}

// follow makes a server follow another one, if that loses neither data nor the last replica of a shard.
func follow(in *input, p, leader *proc) verdict {
	if found := mayDrop(in, p); found.refusals != nil {
		return found
	}
	if !p.knows(leader) || !leader.knows(p) {
		return refuse(Acquainted, "%s and %s do not know each other yet", p, leader)
	}
	return take(redis.Replicate{Address: p.Address, PrimaryID: leader.id()}, "%s replicates %s", p, leader)
}
