// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// create numbers processes that have never met. Whether a cluster is new cannot be known
// while one does not answer: it may be the one that has data.
func create(f *facts) verdict {
	if there := f.answering(); slices.ContainsFunc(there, func(p *proc) bool { return !p.status.Fresh() }) {
		return verdict{}
	}
	if silent := f.silent(); len(silent) > 0 {
		return halt(AllThere, "a cluster begins when all %d processes are there: waiting for %s", len(f.procs), list(silent))
	}
	epochs := map[string]uint64{}
	for _, p := range f.procs {
		if p.status.ConfigEpoch == 0 && !f.leaves(p) {
			epochs[p.Address] = number(p)
		}
	}
	if len(epochs) == 0 {
		return verdict{}
	}
	return take(redis.SetEpoch{Epochs: epochs}, "begin a cluster of %d pods", f.ring.Nodes)
}

// number is the first epoch of a process. A home has the greatest: that of a guest is no one's as soon as it follows, as if
// an election had been lost (spent).
func number(p *proc) uint64 {
	if p.Place == redis.Home {
		return 2*uint64(p.Pod) + 2
	}
	return 2*uint64(p.Pod) + 1
}

// share is what shard i of n has in an even division, as redis-cli makes it.
func share(i, n int) redis.Slots {
	first := func(i int) int { return (i*redis.SlotCount + n/2) / n }
	return redis.Slots{{First: first(i), Last: first(i+1) - 1}}
}

// assign gives out the slots of a new cluster. One that has begun to, and was interrupted, is
// known by that every shard has its even share or nothing, and that no one else was ever
// there. In any other cluster, slots that no one claims may be those of lost data.
func assign(f *facts) verdict {
	if len(f.unowned) == 0 {
		return verdict{}
	}
	given := f.givenUp().Within(f.unowned)
	if silent := f.silent(); len(silent) > 0 && len(given) == 0 {
		return halt(Unowned, "slots %s are claimed by nobody who answers: waiting for %s", brief(f.unowned), list(silent))
	}
	if unheard := f.unheard(); len(unheard) > 0 {
		return halt(Acquainted, "%s has not heard of all others", unheard[0])
	}
	if len(given) > 0 {
		return f.reassign(given)
	}
	if dead := f.dead(); len(dead) > 0 && f.begins() {
		id := sortedKeys(dead)[0]
		return take(redis.Forget{ID: id, At: dead[id]}, "forget %s, which has gone before there were any slots", id)
	}
	slots, ok := f.shares()
	if !ok {
		return halt(Unowned, "slots %s are claimed by nobody, and this is not a new cluster: their data may be lost", brief(f.unowned))
	}
	return take(redis.AssignSlots{Slots: slots}, "give the slots to %d primaries", len(slots))
}

// shares are the slots that homes without any are to have; false if this is no new cluster.
func (f *facts) shares() (map[string]redis.Slots, bool) {
	if len(f.procs) != 2*f.ring.Nodes || len(f.dead()) > 0 {
		return nil, false
	}
	out := map[string]redis.Slots{}
	for i := range f.ring.Nodes {
		leader, want := f.leader(i), share(i, f.ring.Nodes)
		switch {
		case leader == nil:
			return nil, false
		case leader.leads():
			if leader.status.Slots.String() != want.String() {
				return nil, false
			}
		case leader != f.home(i):
			return nil, false
		default:
			out[leader.Address] = want
		}
	}
	return out, len(out) > 0
}
