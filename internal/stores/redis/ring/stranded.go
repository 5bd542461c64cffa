// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// isStranded reports whether a replica may have the only keys of open slots. They were moved to its primary, which is
// now gone. That primary had no slots yet, so no replica is elected in its place, and the source of the move does not
// know this replica.
func isStranded(in *input, p *proc) bool {
	id := p.status.PrimaryID
	return p.status.Role == redis.Replica && p.status.Keys > 0 && in.byID[id] == nil && len(in.lost[id]) == 0 && in.heir(id) == p && in.expects(id)
}

// rescue makes a stranded replica a primary without slots. Its slots are then open at both ends again, and rule settle
// finishes the move.
func rescue(ps processes, p *proc) verdict {
	if waits := ps.keepers(); len(waits) > 0 {
		return refuse(Fenced, "%s has %d keys of slots that were being moved to its primary: waiting for %s%s", p, p.status.Keys, list(waits), remedy(waits))
	}
	for _, other := range ps.primaries() {
		if len(other.status.Slots) == 0 && other.status.Keys > 0 && len(other.status.Importing) > 0 {
			return refuse(Election, "%s waits until slots are moved to %s, which also has keys of these slots", p, other)
		}
	}
	return take(redis.Takeover{Address: p.Address}, "make %s a primary: it has keys of slots that were being moved to its former primary", p)
}

// awaits reports whether a silent process may have the only keys of a slot that is being moved to it. It has none if
// another process leads its shard, because it will follow that process and drop its own keys.
func awaits(ps processes, slot int) bool {
	return !ps.covered() && slices.ContainsFunc(ps.primaries(), func(p *proc) bool {
		id, open := p.status.Migrating[slot]
		return open && ps.byID[id] == nil
	})
}
