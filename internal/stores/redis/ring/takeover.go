// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// takeover is for primaries that are lost and that the others cannot replace, as too few of
// them are left to vote. A replica that takes over by itself is in the right only if the
// primary runs no more: else both would accept writes, and those of one be dropped.
func takeover(f *facts) verdict {
	var out verdict
	answer, all := f.quorum()
	for _, id := range sortedKeys(f.lost) {
		out.add(f.replace(id, answer > all/2, answer, all))
	}
	for _, p := range f.answering() {
		if f.strands(p) {
			out.add(f.rescue(p))
		}
	}
	return out
}

func (f *facts) replace(id string, majority bool, answer, all int) verdict {
	slots := brief(f.lost[id])
	heir, running := f.heir(id), f.running()
	if heir == nil || heir.status.Unlinked { // what it has may be as old as its pod; anyone who comes back later would drop what it has more
		running = f.keepers()
	}
	switch {
	case heir == nil && len(running) > 0:
		return refuse(Lost, "slots %s are served by nobody: waiting for %s%s", slots, list(running), remedy(running))
	case heir == nil && f.forsaken(id):
		return verdict{}
	case heir == nil:
		return refuse(Lost, "slots %s are lost: their primary %s is gone, and no replica of it answers", slots, id)
	case majority && f.asks(heir):
		return refuse(Election, "slots %s: %s is about to be elected by %d of %d primaries", slots, heir, answer, all)
	case majority && len(running) > 0:
		return refuse(Fenced, "slots %s: %s has a copy, but may lack the last writes: it may not lead before %s answers, or is gone for certain%s",
			slots, heir, list(running), remedy(running))
	case majority:
		return take(redis.ForceFailover{Address: heir.Address}, "have %s elected for slots %s: it would wait for its primary, which is gone", heir, slots)
	case len(running) > 0:
		return refuse(Fenced, "slots %s: %d of %d primaries are too few to elect %s, which may not take over while %s may still run, or come back%s",
			slots, answer, all, heir, list(running), remedy(running))
	}
	return take(redis.Takeover{Address: heir.Address}, "have %s take over slots %s: %d of %d primaries are too few to elect it", heir, slots, answer, all)
}

// remedy says what to do where someone who is waited for will never come back; "" where all of them may run.
func remedy(waited []*proc) string {
	var pods []string
	for _, p := range waited {
		if pod := fmt.Sprintf("pod %d", p.Pod); p.returns && !slices.Contains(pods, pod) {
			pods = append(pods, pod)
		}
	}
	switch len(pods) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; %s has no node, and its volume is there: if that is lost for good, delete its claim", pods[0])
	}
	return fmt.Sprintf("; %s have no node, and their volumes are there: delete the claims of those that are lost for good", strings.Join(pods, ", "))
}

// asks reports whether a replica of a lost primary asks for votes by itself. One does not that was restarted and has not seen
// its primary since; nor does any whose primary has no address any more, as another process has it: those are never
// found to have failed (cluster.c, clusterCron skips them).
func (f *facts) asks(heir *proc) bool {
	if heir.status.Unlinked {
		return false
	}
	return slices.ContainsFunc(f.answering(), func(p *proc) bool {
		peer, listed := p.status.Peer(heir.status.PrimaryID)
		return listed && (peer.Address != "" || peer.Failed)
	})
}

// heir is the replica of a lost primary that has most of its writes. One that has never had any
// is none: to have it lead would pass the loss over in silence.
func (f *facts) heir(id string) *proc {
	var best *proc
	for _, p := range f.followers(id) {
		if p.status.HasCopy() && (best == nil || p.ahead(best)) {
			best = p
		}
	}
	return best
}

// ahead reports whether a replica has more of the writes than another, for all that is known. The offset of one that has not
// been connected to its primary may be that of another's writes.
func (p *proc) ahead(other *proc) bool {
	return cmp.Or(
		cmp.Compare(linked(p), linked(other)),
		cmp.Compare(p.status.Offset, other.status.Offset),
		cmp.Compare(p.status.Keys, other.status.Keys),
	) > 0
}

func linked(p *proc) int {
	if p.status.Unlinked {
		return 0
	}
	return 1
}

// Majority reports whether enough of the primaries that have slots answer to elect others.
func Majority(view redis.View, wanted Ring) bool {
	answer, all := survey(view, wanted).quorum()
	return answer > all/2
}
