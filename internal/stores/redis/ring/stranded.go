// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// strands reports whether keys of open slots may be with a replica alone: they went to its primary, which is gone and had no
// slots yet, so that no one elects another in its place, nor knows the replica as an end of the move.
func (f *facts) strands(p *proc) bool {
	id := p.status.PrimaryID
	return p.status.Role == redis.Replica && p.status.Keys > 0 && f.byID[id] == nil && len(f.lost[id]) == 0 && f.heir(id) == p && f.expects(id)
}

// expects reports whether slots are open that go to someone. What replicas say of them may be old: they do not hear of
// slots that are closed while they are cut off (valkey-io/valkey#998).
func (f *facts) expects(id string) bool {
	return slices.ContainsFunc(f.primaries(), func(p *proc) bool {
		return slices.Contains(slices.Collect(maps.Values(p.status.Migrating)), id)
	})
}

// rescue has a replica lead, with no slots as yet: the slots are open to it then, and closed at both ends as any others.
func (f *facts) rescue(p *proc) verdict {
	if waits := f.keepers(); len(waits) > 0 {
		return refuse(Fenced, "%s has %d keys of slots that were on their way to its primary: waiting for %s%s", p, p.status.Keys, list(waits), remedy(waits))
	}
	for _, other := range f.primaries() {
		if len(other.status.Slots) == 0 && other.status.Keys > 0 && len(other.status.Importing) > 0 {
			return refuse(Election, "%s waits until slots are moved to %s, which has keys of them too", p, other)
		}
	}
	return take(redis.Takeover{Address: p.Address}, "have %s lead, which has keys of slots that were on their way to its primary", p)
}

// awaits reports whether someone who does not answer may alone have keys of a slot that is open to it. One in whose place
// another leads has none: anyone who comes back follows that, and drops what it has.
func (f *facts) awaits(slot int) bool {
	return !f.covered() && slices.ContainsFunc(f.primaries(), func(p *proc) bool {
		id, open := p.status.Migrating[slot]
		return open && f.byID[id] == nil
	})
}

// covered reports whether each shard has its primary among those that answer: one that serves slots, or an empty home that has
// yet to get any and is followed. One that no one follows may be the successor of who was there before, whose replica may
// have what that had; nor is much known while two claim the same slots.
func (f *facts) covered() bool {
	var claimed []int
	for _, p := range f.leaders() {
		claimed = append(claimed, p.status.Slots.Numbers()...)
	}
	missing := len(f.procs)/2 - len(f.leaders())
	for i := range f.ring.Nodes {
		home := f.home(i)
		if home.answers && home.status.Role == redis.Primary && len(home.status.Slots) == 0 && len(f.followers(home.id())) > 0 {
			missing--
		}
	}
	return missing <= 0 && redis.SlotsOf(claimed...).Len() == len(claimed)
}
