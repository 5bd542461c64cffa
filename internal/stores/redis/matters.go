// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"reflect"
	"slices"
	"strings"
)

// matters holds the parts of a View that a controller acts on. Offsets, sizes, times and error texts are omitted
// because they change all the time.
type matters struct {
	failing, stale bool
	nodes          map[string]state
	unclaimed      string // slots that no server owns, without View.Passing
	move           moveState
}

// state holds the parts of a server's status that a controller acts on.
type state struct {
	answers, loading, linkUp, unlinked, clusterOK, barred, evicts, logFails bool
	id, run, role, primary, source, slots, open                             string
	version                                                                 Version
	fill                                                                    Fill
	known                                                                   string
	redirects                                                               bool
}

// moveState holds the parts of a slot move that a controller acts on. The progress is rounded down to steps of 5 %.
type moveState struct {
	known, ended, failed bool
	goal, twentieth      int
}

// alike reports whether a controller would do the same for two views.
func alike(a, b View) bool { return reflect.DeepEqual(a.matters(), b.matters()) }

func (v View) matters() matters {
	out := matters{failing: v.Err != nil, stale: v.Stale, nodes: map[string]state{}, unclaimed: v.unclaimed().Without(v.Passing).String()}
	if v.Move != nil {
		out.move = moveState{known: true, ended: v.Move.Ended, failed: v.Move.Err != nil, goal: v.Move.Goal, twentieth: v.Move.Percent() / 5}
	}
	for address, status := range v.Nodes {
		is := stateOf(status, v.Moving())
		is.redirects = v.Redirects(address)
		out.nodes[address] = is
	}
	return out
}

// stateOf returns the parts of a server's status that a controller acts on. While slots are being moved, it omits what
// changes with every slot.
func stateOf(s NodeStatus, moving bool) state {
	out := state{
		answers: s.Answers(), loading: s.Loading, linkUp: s.LinkUp, unlinked: s.Unlinked, clusterOK: s.ClusterOK, barred: s.NotAdmitted,
		id: s.ID, run: s.RunID, role: string(s.Role), primary: s.PrimaryID, source: s.Source, version: s.Version, fill: s.Fill(), evicts: s.Evicts, logFails: s.LogFails,
	}
	if !moving {
		out.slots, out.open = s.Slots.String(), open(s)
	}
	var known []string
	for _, peer := range s.Known {
		known = append(known, line(peer, moving))
	}
	slices.Sort(known)
	out.known = strings.Join(known, "\n")
	return out
}

func line(p Peer, moving bool) string {
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

// open returns the slots that are being moved to or from a server, one by one or by a job.
func open(s NodeStatus) string {
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
