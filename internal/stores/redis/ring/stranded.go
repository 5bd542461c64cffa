// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// isStranded reports whether a replica may have the only copy of some keys, because their slots were being moved to its
// primary. That primary is gone and had no slots yet, so no replica is elected to replace it.
func isStranded(in *input, p *proc) bool {
	id := p.status.PrimaryID
	return p.status.Role == redis.Replica && p.status.Keys > 0 && in.byID[id] == nil && len(in.lost[id]) == 0 && in.heir(id) == p && in.expects(id)
}

// rescue makes a stranded replica a primary without slots. The interrupted move then has both its servers again, and
// the rule settle finishes it.
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

// awaits reports whether opcrew must wait for a silent server to which a slot was being moved, because that server may
// have the only copy of some keys. opcrew need not wait if every shard has a primary that answers. The silent server
// would then come back as a replica, and drop its keys.
func awaits(ps processes, slot int) bool {
	return !ps.covered() && slices.ContainsFunc(ps.primaries(), func(p *proc) bool {
		id, open := p.status.Migrating[slot]
		return open && ps.byID[id] == nil
	})
}
