// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// facts are a view, sorted by the places of the ring.
type facts struct {
	view redis.View
	ring Ring
	// procs are the processes of all pods, by ordinal, home before guest.
	procs []*proc
	byID  map[string]*proc // of those that answer
	// lost are the slots of primaries that do not answer, by their id, for all that those who
	// answer know; unowned are those that no one claims.
	lost    map[string]redis.Slots
	unowned redis.Slots
	// closes reports that slots that are open will be closed before a step is taken.
	closes bool
}

// proc is one process.
type proc struct {
	redis.Node
	status  redis.NodeStatus
	answers bool
	// gone reports that it is proven not to run; yields, that it is about to be stopped; ended, that it did not run a
	// moment ago, and may have been started again since.
	gone, yields, ended bool
	// returns reports that it may come back with its data, though it is gone.
	returns bool
}

func (p *proc) String() string { return fmt.Sprintf("the %s of pod %d", p.Place, p.Pod) }

func (p *proc) id() string { return p.status.ID }

func (p *proc) leads() bool { return p.answers && p.status.Leads() }

// idle reports whether it is a primary that nothing would be lost with.
func (p *proc) idle() bool {
	return p.answers && p.status.Role == redis.Primary && len(p.status.Slots) == 0 && p.status.Keys == 0
}

func (p *proc) open() bool {
	return len(p.status.Migrating)+len(p.status.Importing)+len(p.status.Jobs) > 0
}

func (p *proc) end() redis.End { return redis.End{Address: p.Address, ID: p.id()} }

// survey sorts a view.
func survey(view redis.View, ring Ring) *facts {
	f := &facts{view: view, ring: ring, byID: map[string]*proc{}}
	for i := range max(len(ring.Pods), ring.Nodes) {
		f.procs = append(f.procs, f.proc(i, redis.Home), f.proc(i, redis.Guest))
	}
	for _, p := range f.answering() {
		f.byID[p.id()] = p
	}
	f.sortSlots()
	return f
}

func (f *facts) proc(pod int, place redis.Place) *proc {
	p := &proc{Node: redis.Node{Pod: pod, Place: place, Address: f.ring.Home(pod)}}
	if place == redis.Guest {
		p.Address = f.ring.Guest(pod)
	}
	if pod < len(f.ring.Pods) {
		in := f.ring.Pods[pod]
		p.gone, p.yields, p.ended, p.returns = in.Gone, in.Yields, in.Ended[place], in.Gone && in.Returns
	}
	p.status = f.view.Nodes[p.Address]
	p.answers = p.Address != "" && p.status.Answers()
	return p
}

// sortSlots finds the slots that are not served. A process that is not asked, or does not
// answer, is known by what others have of it in their tables; slots that pass are neither lost nor unowned.
func (f *facts) sortSlots() {
	var owned [redis.SlotCount]bool
	mark := func(slots redis.Slots) (own []int) {
		for _, n := range slots.Numbers() {
			if !owned[n] {
				own, owned[n] = append(own, n), true
			}
		}
		return own
	}
	mark(f.view.Passing)
	for _, p := range f.answering() {
		mark(p.status.Slots)
	}
	f.lost = map[string]redis.Slots{}
	for _, p := range f.answering() {
		for _, peer := range p.status.Known {
			if f.byID[peer.ID] != nil {
				continue
			}
			if own := mark(peer.Slots); len(own) > 0 {
				f.lost[peer.ID] = redis.SlotsOf(append(own, f.lost[peer.ID].Numbers()...)...)
			}
		}
	}
	var free []int
	for n, is := range owned {
		if !is {
			free = append(free, n)
		}
	}
	f.unowned = redis.SlotsOf(free...)
}

func (f *facts) where(is func(*proc) bool) []*proc {
	var out []*proc
	for _, p := range f.procs {
		if is(p) {
			out = append(out, p)
		}
	}
	return out
}

func (f *facts) answering() []*proc { return f.where(func(p *proc) bool { return p.answers }) }

// leaders are those that serve slots.
func (f *facts) leaders() []*proc { return f.where((*proc).leads) }

// silent are those that do not answer, whether or not they can run.
func (f *facts) silent() []*proc { return f.where(func(p *proc) bool { return !p.answers }) }

// running are those that do not answer and may run.
func (f *facts) running() []*proc {
	return f.where(func(p *proc) bool { return !p.answers && !p.gone })
}

// keepers are those that do not answer and may have data that no one else has: who may run, and who may come back.
func (f *facts) keepers() []*proc {
	return f.where(func(p *proc) bool { return !p.answers && (!p.gone || p.returns) })
}

func (f *facts) leaves(p *proc) bool { return p.Pod >= f.ring.Nodes }

func (f *facts) home(i int) *proc { return f.procs[2*i] }

// guest is the process that replicates shard i.
func (f *facts) guest(i int) *proc { return f.procs[2*f.ring.Host(i)+1] }

// leader is who leads shard i, or shall: nil if that cannot be said. A home that has not
// been given slots yet leads an empty shard.
func (f *facts) leader(i int) *proc {
	home, guest := f.home(i), f.guest(i)
	for _, p := range []*proc{home, guest} {
		if p.leads() {
			return p
		}
	}
	switch {
	case home.idle():
		return home
	case home.answers && guest.idle(): // it follows another shard for now
		return guest
	}
	return nil
}

// followers are those that replicate a process, or a process that they know by its id.
func (f *facts) followers(id string) []*proc {
	return f.where(func(p *proc) bool {
		return p.answers && p.status.Role == redis.Replica && p.status.PrimaryID == id
	})
}

// secured reports whether a process has a replica in sync beside one.
func (f *facts) secured(primary, beside *proc) bool {
	return slices.ContainsFunc(f.followers(primary.id()), func(p *proc) bool { return p != beside && p.status.LinkUp })
}

// election says why a primary may be about to be elected; "" if none is.
func (f *facts) election() string {
	for _, id := range sortedKeys(f.lost) {
		return fmt.Sprintf("slots %s are those of %s, which does not answer", brief(f.lost[id]), id)
	}
	for _, p := range f.answering() {
		if p.status.Role != redis.Replica {
			continue
		}
		if primary := f.byID[p.status.PrimaryID]; primary == nil || primary.status.Role != redis.Primary {
			return fmt.Sprintf("%s follows %s, which is no primary that answers", p, p.status.PrimaryID)
		}
	}
	return ""
}

// quorum says how many of the primaries that have slots answer, and how many there are.
func (f *facts) quorum() (answer, all int) {
	answer = len(f.leaders())
	return answer, answer + len(f.lost)
}
