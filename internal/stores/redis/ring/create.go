// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// create gives an epoch to each server of a new cluster. It waits until all servers answer, because the cluster is not
// new if a silent server has data.
func create(in *input) verdict {
	if slices.ContainsFunc(in.answering(), func(p *proc) bool { return !p.status.Fresh() }) {
		return verdict{}
	}
	if silent := in.silent(); len(silent) > 0 {
		return halt(AllThere, "opcrew forms the cluster when all %d servers answer: waiting for %s", len(in.all), list(silent))
	}
	epochs := map[string]uint64{}
	for _, p := range in.all {
		if p.status.ConfigEpoch == 0 && !p.leaves {
			epochs[p.Address] = number(p, in.nodes)
		}
	}
	if len(epochs) == 0 {
		return verdict{}
	}
	return take(redis.SetEpoch{Epochs: epochs}, "form a new cluster of %d pods", in.nodes)
}

// number returns the first epoch of a server. Home servers become primaries. They get higher epochs than all guest
// servers, which become replicas. Otherwise Valkey would ignore a replica whose own epoch was higher than its primary's
// (see outrank), and opcrew would assume a lost election (see spent).
func number(p *proc, pods int) uint64 {
	if p.Place == redis.Home {
		return uint64(pods) + uint64(p.Pod) + 1
	}
	return uint64(p.Pod) + 1
}

// share returns the slots of shard i if all slots are divided evenly among n shards. redis-cli divides them in the same
// way.
func share(i, n int) redis.Slots {
	first := func(i int) int { return (i*redis.SlotCount + n/2) / n }
	return redis.Slots{{First: first(i), Last: first(i+1) - 1}}
}

// assign assigns the slots of a new cluster, even after an interrupted attempt. A cluster counts as new if each shard
// has its even share or nothing, and no other server was ever part of it. In any other cluster, slots without an owner
// may have lost their data, so the user must accept the loss first.
func assign(in *input) verdict {
	if len(in.unowned) == 0 {
		return verdict{}
	}
	given := in.givenUp().Within(in.unowned)
	if silent := in.silent(); len(silent) > 0 && len(given) == 0 {
		return halt(Unowned, "none of the servers that answer owns slots %s: waiting for %s", brief(in.unowned), list(silent))
	}
	if unacquainted := unacquainted(in.members()); len(unacquainted) > 0 {
		return halt(Acquainted, "%s does not know all other servers yet", unacquainted[0])
	}
	if len(given) > 0 {
		return reassign(in.processes, given)
	}
	if dead := in.dead(); len(dead) > 0 && in.begins() {
		id := sortedKeys(dead)[0]
		return take(redis.Forget{ID: id, At: dead[id]}, "forget %s: that server disappeared before any slots were assigned", id)
	}
	slots, ok := shares(in.processes)
	if !ok {
		return halt(Unowned, "no server owns slots %s, and the cluster is not new: the data of these slots may be lost", brief(in.unowned))
	}
	return take(redis.AssignSlots{Slots: slots}, "assign all slots to %d primaries", len(slots))
}

// shares returns, by address, the slots for each home server (the usual primary of a shard) that has no slots yet. It
// returns false if the cluster is not new, or if no such server is left.
func shares(ps processes) (map[string]redis.Slots, bool) {
	if len(ps.all) != 2*ps.nodes || len(ps.dead()) > 0 {
		return nil, false
	}
	out := map[string]redis.Slots{}
	for i := range ps.nodes {
		leader, want := ps.leader(i), share(i, ps.nodes)
		switch {
		case leader == nil:
			return nil, false
		case leader.leads():
			if leader.status.Slots.String() != want.String() {
				return nil, false
			}
		case leader != ps.home(i):
			return nil, false
		default:
			out[leader.Address] = want
		}
	}
	return out, len(out) > 0
}

// reassign assigns slots whose data the user has given up to the primaries of the shards that the slots belong to.
func reassign(ps processes, given redis.Slots) verdict {
	out := map[string]redis.Slots{}
	for i := range ps.nodes {
		if slots := share(i, ps.nodes).Within(given); len(slots) > 0 && ps.leader(i) != nil {
			out[ps.leader(i).Address] = slots
		}
	}
	if len(out) == 0 {
		return halt(Unowned, "the data of slots %s is given up, and these slots wait for a primary of their shard", brief(given))
	}
	return take(redis.AssignSlots{Slots: out, Outrank: true}, "assign slots %s again, without their lost data", brief(given))
}
