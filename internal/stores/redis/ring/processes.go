// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// processes holds the servers of all pods.
type processes struct {
	// all holds the servers in the order of their pods. In each pod, the home server (usually a primary) comes before
	// the guest server (usually a replica).
	all  []*proc
	byID map[string]*proc // answering servers, by ID
	// nodes is the desired number of pods.
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

// leaders returns the primaries that serve slots.
func (ps processes) leaders() []*proc { return ps.where((*proc).leads) }

func (ps processes) primaries() []*proc { return ps.where((*proc).primary) }

// leaving returns the servers of pods that are no longer wanted.
func (ps processes) leaving() []*proc { return ps.where(func(p *proc) bool { return p.leaves }) }

// members returns the answering servers that must know each other. It leaves out servers of surplus pods that have
// already been removed from the cluster.
func (ps processes) members() []*proc {
	return ps.where(func(p *proc) bool { return p.answers && (!p.leaves || !p.status.Fresh()) })
}

// silent returns all servers that do not answer. They may or may not still be running.
func (ps processes) silent() []*proc { return ps.where(func(p *proc) bool { return !p.answers }) }

// running returns the servers that do not answer but may still be running.
func (ps processes) running() []*proc {
	return ps.where(func(p *proc) bool { return !p.answers && !p.gone })
}

// keepers returns the silent servers that may have the only copy of some data, because they may still be running or may
// come back.
func (ps processes) keepers() []*proc {
	return ps.where(func(p *proc) bool { return !p.answers && (!p.gone || p.returns) })
}

// followers returns the replicas of the server with the given ID. That server may be silent.
func (ps processes) followers(id string) []*proc {
	return ps.where(func(p *proc) bool { return p.replica() && p.status.PrimaryID == id })
}

// secured reports whether a primary has a replica in sync, not counting the excepted server.
func (ps processes) secured(primary, except *proc) bool {
	return slices.ContainsFunc(ps.followers(primary.id()), func(p *proc) bool { return p != except && p.status.LinkUp })
}

// heir returns the replica of a lost primary that has the most of the primary's writes. A replica that never had a copy
// of the data is not eligible: as a primary, it would hide the loss.
func (ps processes) heir(id string) *proc {
	var best *proc
	for _, p := range ps.followers(id) {
		if p.status.HasCopy() && (best == nil || p.ahead(best)) {
			best = p
		}
	}
	return best
}

// owner returns the server that serves a slot, or nil.
func (ps processes) owner(slot int) *proc {
	for _, p := range ps.leaders() {
		if p.status.Slots.Contains(slot) {
			return p
		}
	}
	return nil
}

// openSlots returns the slots that a primary reports as being moved.
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

// expects reports whether a primary is moving slots to the server with the given ID. Replicas do not count, because
// they may have missed the end of a move (valkey-io/valkey#998).
func (ps processes) expects(id string) bool {
	return slices.ContainsFunc(ps.primaries(), func(p *proc) bool {
		return slices.Contains(slices.Collect(maps.Values(p.status.Migrating)), id)
	})
}

// claimed returns slots that some server still lists as owned by the given ID.
func (ps processes) claimed(id string) redis.Slots {
	for _, p := range ps.answering() {
		if peer, ok := p.status.Peer(id); ok && len(peer.Slots) > 0 {
			return peer.Slots
		}
	}
	return nil
}

// dead returns the IDs in the node tables that belong to none of the answering servers, with the addresses of the
// servers that list them. It omits the temporary ID that a server has while it is being introduced.
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
