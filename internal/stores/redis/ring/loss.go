// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Loss describes which part of a cluster's data is missing.
type Loss struct {
	// Slots are the slots that no server serves and of which none of the answering servers has a copy.
	Slots redis.Slots
	// Waits names the silent servers that may run or come back, and may have the data. It is "" when the loss is
	// certain.
	Waits string
}

// Missing returns which data of the cluster is missing according to a view.
func Missing(view redis.View, wanted Ring) Loss {
	in := survey(view, wanted)
	if len(in.keepers()) == 0 && in.begins() {
		return Loss{}
	}
	return Loss{Slots: in.missing(), Waits: list(in.keepers())}
}

// begins reports whether the answering servers form a new cluster: they have no key, and list no slot owner. They may
// list servers that were added and removed before.
func (in *input) begins() bool {
	return in.unowned.Len() == redis.SlotCount && len(in.view.Passing) == 0 && !hasKeys(in.answering())
}

// missing returns the slots whose data is missing. The data is not missing if a replica has a copy and some server
// still lists that replica's primary as the owner.
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

// orphans returns the replicas that have a copy of the data of a silent primary.
func (in *input) orphans() []*proc {
	return in.where(func(p *proc) bool { return p.answers && p.status.HasCopy() && in.byID[p.status.PrimaryID] == nil })
}

// givenUp returns the slots whose data is missing and whose loss the user has accepted. It returns none while a server
// that may have the data may still run or come back.
func (in *input) givenUp() redis.Slots {
	if len(in.accepted) == 0 || len(in.keepers()) > 0 {
		return nil
	}
	return in.missing().Within(in.accepted)
}

// isGivenUp reports whether the user has accepted the loss of all data of a lost primary.
func (in *input) isGivenUp(id string) bool {
	slots := in.lost[id]
	return len(slots) > 0 && len(slots.Without(in.givenUp())) == 0
}
