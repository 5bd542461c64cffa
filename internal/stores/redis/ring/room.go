// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// fill is how many percent of its memory a process may have after a move: what is written
// meanwhile comes on top.
const fill = 90

// weight is an estimate of the bytes of a move.
func (f *facts) weight(move redis.Move) int64 {
	from := f.byID[move.From.ID].status
	return from.Dataset / int64(max(1, from.Slots.Len())) * int64(move.Slots.Len())
}

// room refuses moves to a process that has too little memory for them. What it gives away
// itself is not counted on: that may come later. One that evicts any key is full most of the
// time, and makes room for what comes as it does for what clients write.
func (f *facts) room(moves []redis.Move) verdict {
	var out verdict
	gets := map[string]int64{}
	for _, move := range moves {
		gets[move.To.ID] += f.weight(move)
	}
	for _, id := range sortedKeys(gets) {
		p := f.byID[id]
		most := p.status.MaxMemory / 100 * fill
		if room := most - p.status.UsedMemory; p.status.MaxMemory > 0 && !p.status.Evicts && gets[id] > room {
			out.add(refuse(Memory, "%s would get about %s and has room for %s: %d%% of %s, less %s in use", p,
				size(gets[id]), size(max(0, room)), fill, size(p.status.MaxMemory), size(p.status.UsedMemory)))
		}
	}
	return out
}

// disagreement reports processes that have heard otherwise of who owns slots than the owner
// says; "" if there are none.
func (f *facts) disagreement() string {
	for _, p := range f.members() {
		for _, other := range f.members() {
			peer, ok := p.status.Peer(other.id())
			if !ok {
				return p.String() + " does not know " + other.String()
			}
			if peer.Slots.String() != other.status.Slots.String() || peer.Role != other.status.Role {
				return p.String() + " has yet to hear what " + other.String() + " owns"
			}
		}
	}
	return ""
}
