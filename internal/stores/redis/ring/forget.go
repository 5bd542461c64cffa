// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// dead are the ids in the tables that no one who answers has, and who lists them. An id under
// which a process is being introduced is none: it goes by itself.
func (f *facts) dead() map[string][]string {
	out := map[string][]string{}
	for _, p := range f.members() {
		for _, peer := range p.status.Known {
			if !peer.Handshake && f.byID[peer.ID] == nil {
				out[peer.ID] = append(out[peer.ID], p.Address)
			}
		}
	}
	return out
}

// forget strikes out ids that have been replaced. An id may be that of any process that does
// not answer, so all must. To strike out a primary whose replica still waits for votes, or a
// replica's own primary, would lose the shard.
func forget(f *facts) verdict {
	dead := f.dead()
	if len(dead) == 0 || len(f.silent()) > 0 {
		return verdict{}
	}
	if reason := f.election(); reason != "" {
		return refuse(Election, "%d lost ids are kept in the tables: %s", len(dead), reason)
	}
	for _, id := range sortedKeys(dead) {
		if slots := f.claimed(id); len(slots) > 0 {
			return refuse(Agreement, "%s is said to own slots %s", id, brief(slots))
		}
	}
	id := sortedKeys(dead)[0]
	return take(redis.Forget{ID: id, At: dead[id]}, "forget %s: nobody is it any more", id)
}

// claimed are slots that anybody still lists as those of an id.
func (f *facts) claimed(id string) redis.Slots {
	for _, p := range f.answering() {
		if peer, ok := p.status.Peer(id); ok && len(peer.Slots) > 0 {
			return peer.Slots
		}
	}
	return nil
}
