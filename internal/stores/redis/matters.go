// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"reflect"
	"slices"
	"strings"
)

// matters is what of a View someone might act on. Offsets, sizes and the time move all the
// while, and so do the words of an error.
type matters struct {
	failing, stale bool
	nodes          map[string]state
	adrift         string // and not passing
	move           moveState
}

// state is that of a process.
type state struct {
	answers, loading, linkUp, unlinked, clusterOK, barred, evicts, logFails bool
	id, run, role, primary, source, slots, open                             string
	version                                                                 Version
	fill                                                                    Fill
	known                                                                   string
	redirects                                                               bool
}

// moveState is that of a move: in steps of some percent while it goes on.
type moveState struct {
	known, ended, failed bool
	goal, twentieth      int
}

// alike reports whether nothing that matters lies between two looks.
func alike(a, b View) bool { return reflect.DeepEqual(a.matters(), b.matters()) }

func (v View) matters() matters {
	out := matters{failing: v.Err != nil, stale: v.Stale, nodes: map[string]state{}, adrift: v.adrift().Without(v.Passing).String()}
	if v.Move != nil {
		out.move = moveState{known: true, ended: v.Move.Ended, failed: v.Move.Err != nil, goal: v.Move.Goal, twentieth: v.Move.Percent() / 5}
	}
	for address, status := range v.Nodes {
		is := status.state(v.Moving())
		is.redirects = v.Redirects(address)
		out.nodes[address] = is
	}
	return out
}

// state leaves out what changes with every slot that is moved.
func (s NodeStatus) state(moving bool) state {
	out := state{
		answers: s.Answers(), loading: s.Loading, linkUp: s.LinkUp, unlinked: s.Unlinked, clusterOK: s.ClusterOK, barred: s.Barred,
		id: s.ID, run: s.RunID, role: string(s.Role), primary: s.PrimaryID, source: s.Source, version: s.Version, fill: s.Fill(), evicts: s.Evicts, logFails: s.LogFails,
	}
	if !moving {
		out.slots, out.open = s.Slots.String(), s.open()
	}
	var known []string
	for _, peer := range s.Known {
		known = append(known, peer.line(moving))
	}
	slices.Sort(known)
	out.known = strings.Join(known, "\n")
	return out
}

func (p Peer) line(moving bool) string {
	words := []string{p.ID, p.Address, string(p.Role), p.PrimaryID}
	for word, is := range map[string]bool{"handshake": p.Handshake, "failing": p.Failing, "failed": p.Failed, "apart": !p.Connected} {
		if is {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	if !moving {
		words = append(words, p.Slots.String())
	}
	return strings.Join(words, " ")
}

// open are the slots that a process has open, or moves by jobs.
func (s NodeStatus) open() string {
	var numbers []int
	for _, slots := range []map[int]string{s.Migrating, s.Importing} {
		for slot := range slots {
			numbers = append(numbers, slot)
		}
	}
	for _, job := range s.Jobs {
		numbers = append(numbers, job.Slots.Numbers()...)
	}
	return SlotsOf(numbers...).String()
}
