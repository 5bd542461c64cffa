// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// processes are those of all pods.
type processes struct {
	// all are in the order of their pods, the home before the guest.
	all  []*proc
	byID map[string]*proc // those that answer
	// nodes is how many pods are wanted.
	nodes int
}

func newProcesses(view redis.View, ring Ring) processes {
	ps := processes{byID: map[string]*proc{}, nodes: ring.Nodes}
	for i := range max(len(ring.Pods), ring.Nodes) {
		ps.all = append(ps.all, newProc(view, ring, i, redis.Home), newProc(view, ring, i, redis.Guest))
	}
	for _, p := range ps.answering() {
		ps.byID[p.id()] = p
	}
	return ps
}

func (ps processes) where(is func(*proc) bool) []*proc {
	var out []*proc
	for _, p := range ps.all {
		if is(p) {
			out = append(out, p)
		}
	}
	return out
}

func (ps processes) answering() []*proc { return ps.where(func(p *proc) bool { return p.answers }) }

// leaders are the processes that serve slots.
func (ps processes) leaders() []*proc { return ps.where((*proc).leads) }

func (ps processes) primaries() []*proc { return ps.where((*proc).primary) }

// leaving are the processes of pods that are no longer wanted.
func (ps processes) leaving() []*proc { return ps.where(func(p *proc) bool { return p.leaves }) }

// members are the processes that must know each other. One that leaves and is out of the cluster already stays out.
func (ps processes) members() []*proc {
	return ps.where(func(p *proc) bool { return p.answers && (!p.leaves || !p.status.Fresh()) })
}

// silent are the processes that do not answer, whether or not they can run.
func (ps processes) silent() []*proc { return ps.where(func(p *proc) bool { return !p.answers }) }

// running are the processes that do not answer and may run.
func (ps processes) running() []*proc {
	return ps.where(func(p *proc) bool { return !p.answers && !p.gone })
}

// keepers are the processes that do not answer and may have the only copy of some data: they may run, or come back.
func (ps processes) keepers() []*proc {
	return ps.where(func(p *proc) bool { return !p.answers && (!p.gone || p.returns) })
}

// followers are the replicas of a process, or of one that is known by its ID only.
func (ps processes) followers(id string) []*proc {
	return ps.where(func(p *proc) bool { return p.replica() && p.status.PrimaryID == id })
}

// secured reports whether a primary has a replica in sync other than one.
func (ps processes) secured(primary, except *proc) bool {
	return slices.ContainsFunc(ps.followers(primary.id()), func(p *proc) bool { return p != except && p.status.LinkUp })
}

// heir is the replica of a lost primary that has most of its writes. A replica that never had any is not an heir: if it led, the
// loss would go unnoticed.
func (ps processes) heir(id string) *proc {
	var best *proc
	for _, p := range ps.followers(id) {
		if p.status.HasCopy() && (best == nil || p.ahead(best)) {
			best = p
		}
	}
	return best
}

// owner is the process that serves a slot.
func (ps processes) owner(slot int) *proc {
	for _, p := range ps.leaders() {
		if p.status.Slots.Contains(slot) {
			return p
		}
	}
	return nil
}

// openSlots are the slots that a primary has open.
func (ps processes) openSlots() []int {
	open := map[int]bool{}
	for _, p := range ps.primaries() {
		for _, slots := range []map[int]string{p.status.Migrating, p.status.Importing} {
			for slot := range slots {
				open[slot] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(open))
}

// expects reports whether slots are open that go to the process with an ID. Replicas are not asked: one that was cut off has
// missed that slots were closed (valkey-io/valkey#998).
func (ps processes) expects(id string) bool {
	return slices.ContainsFunc(ps.primaries(), func(p *proc) bool {
		return slices.Contains(slices.Collect(maps.Values(p.status.Migrating)), id)
	})
}

// claimed are slots that a process still lists as those of an ID.
func (ps processes) claimed(id string) redis.Slots {
	for _, p := range ps.answering() {
		if peer, ok := p.status.Peer(id); ok && len(peer.Slots) > 0 {
			return peer.Slots
		}
	}
	return nil
}

// dead are the IDs in the tables that no process that answers has, and the addresses of those that list them. An ID under
// which a process is being introduced is not dead: it disappears by itself.
func (ps processes) dead() map[string][]string {
	out := map[string][]string{}
	for _, p := range ps.members() {
		for _, peer := range p.status.Known {
			if !peer.Handshake && ps.byID[peer.ID] == nil {
				out[peer.ID] = append(out[peer.ID], p.Address)
			}
		}
	}
	return out
}
