// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// replicate makes the process of each shard that is not the leader follow the leader.
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
			out.add(refuse(InSync, "%s has not copied all data of %s yet", p, leader))
		}
	}
	return out
}

// serving takes no step. It reports processes that are wanted and do not answer, or consider the cluster down.
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

// follow makes a process follow another process, unless that would lose data or the last replica of a shard.
func follow(in *input, p, leader *proc) verdict {
	if found := mayDrop(in, p); found.refusals != nil {
		return found
	}
	if !p.knows(leader) || !leader.knows(p) {
		return refuse(Acquainted, "%s and %s do not know each other yet", p, leader)
	}
	return take(redis.Replicate{Address: p.Address, PrimaryID: leader.id()}, "%s replicates %s", p, leader)
}
