// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Loss describes the part of a cluster's data that is missing.
type Loss struct {
	// Slots are the slots that no process serves, and of which no process that answers has a copy.
	Slots redis.Slots
	// Waits names the silent processes that may be running or come back, as one of them may have the data. It is "" when
	// the loss is certain.
	Waits string
}

// Missing returns what is lost, as far as a view shows it.
func Missing(view redis.View, wanted Ring) Loss {
	in := survey(view, wanted)
	if len(in.keepers()) == 0 && in.begins() {
		return Loss{}
	}
	return Loss{Slots: in.missing(), Waits: list(in.keepers())}
}

// begins reports whether the processes that answer form a new cluster: none of them has, or lists for another, a slot
// or a key. Their tables may list processes that were added and removed when the number of pods changed.
func (in *input) begins() bool {
	return in.unowned.Len() == redis.SlotCount && len(in.view.Passing) == 0 && !hasKeys(in.answering())
}

// missing returns the slots whose data is missing. A slot is not missing if a replica has a copy of it and a process
// still lists the replica's primary as its owner.
func (in *input) missing() redis.Slots {
	missing := in.unowned.Numbers()
	for _, slots := range in.lost {
		missing = append(missing, slots.Numbers()...)
	}
	out := redis.SlotsOf(missing...)
	for _, p := range in.orphans() {
		for _, other := range in.answering() {
			if peer, ok := other.status.Peer(p.status.PrimaryID); ok {
				out = out.Without(peer.Slots)
			}
		}
	}
	return out
}

// orphans returns the replicas that have a copy of the data of a primary that does not answer.
func (in *input) orphans() []*proc {
	return in.where(func(p *proc) bool { return p.answers && p.status.HasCopy() && in.byID[p.status.PrimaryID] == nil })
}

// givenUp returns the missing slots whose loss the user has accepted. There are none while a process that may have the
// data may be running or come back.
func (in *input) givenUp() redis.Slots {
	if len(in.accepted) == 0 || len(in.keepers()) > 0 {
		return nil
	}
	return in.missing().Within(in.accepted)
}

// isGivenUp reports whether the user has given up all slots of a lost primary.
func (in *input) isGivenUp(id string) bool {
	slots := in.lost[id]
	return len(slots) > 0 && len(slots.Without(in.givenUp())) == 0
}
