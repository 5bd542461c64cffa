// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// isStranded reports whether a replica alone may have keys of open slots: they went to its primary, which is gone and had no slots
// yet, so that no replica is elected in its place, and the other end of the move does not know this one.
func isStranded(in *input, p *proc) bool {
	id := p.status.PrimaryID
	return p.status.Role == redis.Replica && p.status.Keys > 0 && in.byID[id] == nil && len(in.lost[id]) == 0 && in.heir(id) == p && in.expects(id)
}

// rescue makes a stranded replica a primary without slots. Its slots are then open at this end too, and are closed at both ends
// like any others.
func rescue(ps processes, p *proc) verdict {
	if waits := ps.keepers(); len(waits) > 0 {
		return refuse(Fenced, "%s has %d keys of slots that were on their way to its primary: waiting for %s%s", p, p.status.Keys, list(waits), remedy(waits))
	}
	for _, other := range ps.primaries() {
		if len(other.status.Slots) == 0 && other.status.Keys > 0 && len(other.status.Importing) > 0 {
			return refuse(Election, "%s waits until slots are moved to %s, which has keys of them too", p, other)
		}
	}
	return take(redis.Takeover{Address: p.Address}, "make %s lead, which has keys of slots that were on their way to its primary", p)
}

// awaits reports whether a process that does not answer may have the only keys of a slot that is open to it. When another
// process leads in its place it has none: it would follow that one and drop what it has.
func awaits(ps processes, slot int) bool {
	return !ps.covered() && slices.ContainsFunc(ps.primaries(), func(p *proc) bool {
		id, open := p.status.Migrating[slot]
		return open && ps.byID[id] == nil
	})
}
