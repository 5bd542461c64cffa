// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// mostMeetings limits how many servers are introduced to each other in one step.
const mostMeetings = 200

// renew gives a new ID to a server that left the cluster and comes back. The other servers may ignore its old ID for a
// while.
func renew(in *input) verdict {
	if len(in.leaders()) == 0 { // in a new cluster no server owns slots yet, and all servers keep their IDs
		return verdict{}
	}
	var out verdict
	for _, p := range in.answering() {
		if p.status.Fresh() && !p.leaves && p.status.CurrentEpoch > 0 {
			out.add(take(redis.Renew{Address: p.Address, ID: p.id()}, "give a new ID to %s, which has left the cluster before", p))
		}
	}
	return out
}

// introduce uses CLUSTER MEET, which is the only way to announce a server's new address. The best-connected server
// meets the servers whose current address it does not know. The other servers then learn the addresses from it. If that
// is not enough, all servers meet.
func introduce(in *input) verdict {
	members := in.members()
	if len(members) == 0 {
		return verdict{}
	}
	hub := slices.MaxFunc(members, func(a, b *proc) int { return acquaintances(members, a) - acquaintances(members, b) })
	out, unrelated := unrelated(members, hub)
	members = slices.DeleteFunc(members, func(p *proc) bool { return slices.Contains(unrelated, p) })
	meetings := meetingsAt(hub, members)
	if len(meetings) == 0 {
		for _, p := range members {
			meetings = append(meetings, meetingsAt(p, members)...)
		}
	}
	if len(meetings) > 0 {
		meetings = meetings[:min(len(meetings), mostMeetings)]
		out.add(take(redis.Introduce{Meetings: meetings}, "introduce %s to other servers", in.byID[meetings[0].ID]))
	}
	return out
}

// acquaintances returns how many of the given servers a server knows.
func acquaintances(members []*proc, p *proc) int {
	n := 0
	for _, other := range members {
		if p.knows(other) {
			n++
		}
	}
	return n
}

// unacquainted returns the servers that do not know the current address of some other server.
func unacquainted(members []*proc) []*proc {
	var out []*proc
	for _, p := range members {
		if slices.ContainsFunc(members, func(other *proc) bool { return p != other && !p.knows(other) }) {
			out = append(out, p)
		}
	}
	return out
}

func meetingsAt(p *proc, members []*proc) []redis.Meeting {
	var out []redis.Meeting
	for _, other := range members {
		if p != other && !p.knows(other) {
			out = append(out, redis.Meeting{At: p.Address, To: other.Address, ID: other.id()})
		}
	}
	return out
}

// unrelated returns servers that are not in the cluster of the given server (hub), but claim slots that this cluster
// also claims. No chain of servers that know each other connects them to hub.
func unrelated(members []*proc, hub *proc) (out verdict, found []*proc) {
	circle := circle(members, hub)
	for _, p := range members {
		if len(p.status.Slots) == 0 || slices.Contains(circle, p) {
			continue
		}
		both := p.status.Slots.Within(claims(circle))
		if len(both) == 0 {
			continue
		}
		out.add(halt(Unrelated, "%s and %s belong to different clusters, and both clusters have an owner of slots %s: opcrew cannot decide whose data to keep", hub, p, brief(both)))
		found = append(found, p)
	}
	return out, found
}

// circle returns the servers that are connected with the first one by a chain of servers that know each other.
func circle(members []*proc, first *proc) []*proc {
	in := []*proc{first}
	for i := 0; i < len(in); i++ {
		for _, p := range members {
			if !slices.Contains(in, p) && met(in[i], p) {
				in = append(in, p)
			}
		}
	}
	return in
}

// claims returns the slots for which some of the servers list an owner.
func claims(procs []*proc) redis.Slots {
	var owned slotSet
	var out []int
	for _, p := range procs {
		for _, peer := range p.status.Known {
			out = append(out, owned.mark(peer.Slots)...)
		}
	}
	return redis.SlotsOf(out...)
}
