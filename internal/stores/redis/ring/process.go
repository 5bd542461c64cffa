// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// proc is one of the two Redis servers of a pod: the home server (usually a primary) or the guest server (usually a
// replica).
type proc struct {
	redis.Node
	status  redis.NodeStatus
	answers bool
	// leaves reports that the server's pod is no longer wanted.
	leaves bool
	// gone reports that the server certainly does not run. ended reports that it did not run a moment ago, but may have
	// started since. yields reports that it is about to be stopped.
	gone, yields, ended bool
	// returns reports that the server is gone and may come back with its data.
	returns bool
	// mustRest explains why the server cannot be elected yet; "" if it can.
	mustRest string
}

// newProc returns what is known about one of the two servers of a pod. place says which one: home or guest.
func newProc(view redis.View, ring Ring, pod int, place redis.Place) *proc {
	p := &proc{Node: redis.Node{Pod: pod, Place: place, Address: ring.Home(pod)}, leaves: pod >= ring.Nodes}
	if place == redis.Guest {
		p.Address = ring.Guest(pod)
	}
	if pod < len(ring.Pods) {
		in := ring.Pods[pod]
		p.gone, p.yields, p.ended, p.returns = in.Gone, in.Yields, in.Ended[place], in.Gone && in.Returns
	}
	p.status = view.Nodes[p.Address]
	p.answers = p.Address != "" && p.status.Answers()
	p.mustRest = mustRest(p.Address, p.status, ring)
	return p
}

func (p *proc) String() string { return fmt.Sprintf("the %s server of pod %d", p.Place, p.Pod) }

func (p *proc) id() string { return p.status.ID }

func (p *proc) end() redis.End { return redis.End{Address: p.Address, ID: p.id()} }

func (p *proc) leads() bool { return p.answers && p.status.Leads() }

// primary reports whether the server answers as a primary, with or without slots.
func (p *proc) primary() bool { return p.answers && p.status.Role == redis.Primary }

// replica reports whether the server answers as a replica.
func (p *proc) replica() bool { return p.answers && p.status.Role == redis.Replica }

// idle reports whether the server is a primary without slots and without keys.
func (p *proc) idle() bool { return p.primary() && len(p.status.Slots) == 0 && p.status.Keys == 0 }

// open reports whether slots are being moved to or from the server.
func (p *proc) open() bool {
	return len(p.status.Migrating)+len(p.status.Importing)+len(p.status.Jobs) > 0
}

// follows reports whether the server answers and replicates the primary with the given ID.
func (p *proc) follows(id string) bool { return p.answers && p.status.PrimaryID == id }

// lists reports whether an ID is in the server's node table.
func (p *proc) lists(id string) bool {
	_, listed := p.status.Peer(id)
	return listed
}

// knows reports whether the server has the current address of another server.
func (p *proc) knows(other *proc) bool {
	peer, ok := p.status.Peer(other.id())
	return ok && peer.Address == other.Address
}

// met reports whether either of two servers lists the other.
func met(a, b *proc) bool { return a.lists(b.id()) || b.lists(a.id()) }

// ahead reports whether a replica probably has more of its primary's writes than another replica. Without a connection
// to its primary, a replica's offset may count the writes of an earlier primary.
func (p *proc) ahead(other *proc) bool {
	return cmp.Or(
		cmp.Compare(p.linked(), other.linked()),
		cmp.Compare(p.status.Offset, other.status.Offset),
		cmp.Compare(p.status.Keys, other.status.Keys),
	) > 0
}

// linked returns 1 if a replica has been connected to its primary since it started, otherwise 0.
func (p *proc) linked() int {
	if p.status.Unlinked {
		return 0
	}
	return 1
}

// trouble returns why the server does not answer, as a clause without a subject.
func (p *proc) trouble() string {
	switch {
	case p.returns:
		return "has no node, but its volume still exists"
	case p.gone:
		return "is gone"
	case p.Address == "":
		return "has no address yet"
	case p.status.Loading:
		return "is loading its data"
	case p.status.Err != nil:
		return "does not answer: " + p.status.Err.Error()
	}
	return "has not been read yet"
}

func addresses(procs []*proc) []string {
	var out []string
	for _, p := range procs {
		out = append(out, p.Address)
	}
	return out
}

func hasKeys(procs []*proc) bool {
	return slices.ContainsFunc(procs, func(p *proc) bool { return p.status.Keys > 0 })
}
