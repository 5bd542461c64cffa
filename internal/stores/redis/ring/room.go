// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// fill is the largest share of its memory, in percent, that a server may use after a move. The remaining memory is for
// writes of clients.
const fill = 90

// weight estimates how many bytes of data a move of slots transfers.
func weight(move redis.Move, from redis.NodeStatus) int64 {
	return from.Dataset / int64(max(1, from.Slots.Len())) * int64(move.Slots.Len())
}

// room refuses moves to a server that has too little memory for them. Memory of slots that it gives away does not
// count, because it may become free later. A server that may evict any key always has room.
func room(moves []redis.Move, byID map[string]*proc) verdict {
	var out verdict
	gets := map[string]int64{}
	for _, move := range moves {
		gets[move.To.ID] += weight(move, byID[move.From.ID].status)
	}
	for _, id := range sortedKeys(gets) {
		p := byID[id]
		most := p.status.MaxMemory / 100 * fill
		if room := most - p.status.UsedMemory; p.status.MaxMemory > 0 && !p.status.Evicts && gets[id] > room {
			out.add(refuse(Memory, "%s would receive about %s of data but has room for %s (%d%% of %s, minus %s in use)", p,
				size(gets[id]), size(max(0, room)), fill, size(p.status.MaxMemory), size(p.status.UsedMemory)))
		}
	}
	return out
}

// disagreement describes a server that is wrong about another server's slots or role; "" if there is none.
func disagreement(members []*proc) string {
	for _, p := range members {
		for _, other := range members {
			peer, ok := p.status.Peer(other.id())
			if !ok {
				return p.String() + " does not know " + other.String()
			}
			if peer.Slots.String() != other.status.Slots.String() || peer.Role != other.status.Role {
				return p.String() + " does not know yet which slots " + other.String() + " owns"
			}
		}
	}
	return ""
}
