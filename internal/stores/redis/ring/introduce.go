// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// mostMeetings are in one step.
const mostMeetings = 200

// renew has one that comes back after it left be a new process: the others may not hear of the one that it was.
func renew(f *facts) verdict {
	if len(f.leaders()) == 0 { // one that is being made
		return verdict{}
	}
	var out verdict
	for _, p := range f.answering() {
		if p.status.Fresh() && !f.leaves(p) && p.status.CurrentEpoch > 0 {
			out.add(take(redis.Renew{Address: p.Address, ID: p.id()}, "have %s, which left before, be a new process", p))
		}
	}
	return out
}

// members are those that shall know each other. One that leaves and has been taken out
// already stays apart.
func (f *facts) members() []*proc {
	return f.where(func(p *proc) bool { return p.answers && (!f.leaves(p) || !p.status.Fresh()) })
}

// knows reports whether a process knows another, and where it is.
func (p *proc) knows(other *proc) bool {
	peer, ok := p.status.Peer(other.id())
	return ok && peer.Address == other.Address
}

// met reports whether one of two has ever heard of the other.
func met(a, b *proc) bool {
	_, ab := a.status.Peer(b.id())
	_, ba := b.status.Peer(a.id())
	return ab || ba
}

// unheard are those that do not know where another is.
func (f *facts) unheard() []*proc {
	members := f.members()
	return f.where(func(p *proc) bool {
		return slices.Contains(members, p) && slices.ContainsFunc(members, func(other *proc) bool {
			return p != other && !p.knows(other)
		})
	})
}

// introduce has the one that knows most meet whom it does not know, or not where they are:
// they and the others hear of each other from it. Where that does not come about, as after
// all have moved at once, they are introduced to each other. A MEET is what tells a process
// another's new address: the cluster bus dials addresses, and never names.
func introduce(f *facts) verdict {
	members := f.members()
	if len(members) == 0 {
		return verdict{}
	}
	hub := slices.MaxFunc(members, func(a, b *proc) int { return f.acquaintances(a) - f.acquaintances(b) })
	out, strangers := f.strangers(hub)
	members = slices.DeleteFunc(members, func(p *proc) bool { return slices.Contains(strangers, p) })
	meetings := meetingsAt(hub, members)
	if len(meetings) == 0 {
		for _, p := range members {
			meetings = append(meetings, meetingsAt(p, members)...)
		}
	}
	if len(meetings) > 0 {
		meetings = meetings[:min(len(meetings), mostMeetings)]
		out.add(take(redis.Introduce{Meetings: meetings}, "introduce %s", f.byID[meetings[0].ID]))
	}
	return out
}

func (f *facts) acquaintances(p *proc) int {
	n := 0
	for _, other := range f.members() {
		if p.knows(other) {
			n++
		}
	}
	return n
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

// strangers are of another cluster than the hub's: they claim slots that others do who have
// never heard of them, nor of anybody who has.
func (f *facts) strangers(hub *proc) (out verdict, found []*proc) {
	circle := f.circle(hub)
	for _, p := range f.members() {
		if len(p.status.Slots) == 0 || slices.Contains(circle, p) {
			continue
		}
		both := p.status.Slots.Within(claims(circle))
		if len(both) == 0 {
			continue
		}
		out.add(halt(Strangers, "%s and %s have never met, and both know of an owner of slots %s: who has the data?", hub, p, brief(both)))
		found = append(found, p)
	}
	return out, found
}

// circle are those that have met one, or someone who has.
func (f *facts) circle(first *proc) []*proc {
	in := []*proc{first}
	for i := 0; i < len(in); i++ {
		for _, p := range f.members() {
			if !slices.Contains(in, p) && met(in[i], p) {
				in = append(in, p)
			}
		}
	}
	return in
}

// claims are the slots that processes know an owner of.
func claims(procs []*proc) redis.Slots {
	var owned [redis.SlotCount]bool
	for _, p := range procs {
		for _, peer := range p.status.Known {
			for _, n := range peer.Slots.Numbers() {
				owned[n] = true
			}
		}
	}
	var out []int
	for n, is := range owned {
		if is {
			out = append(out, n)
		}
	}
	return redis.SlotsOf(out...)
}
