// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// takeover replaces lost primaries when too few primaries are left to elect a replica. A replica may take over without
// votes only if its primary certainly does not run. Otherwise both would accept writes, and some writes would be lost.
func takeover(in *input) verdict {
	var out verdict
	for _, id := range sortedKeys(in.lost) {
		out.add(replace(in, id))
	}
	for _, p := range in.answering() {
		if isStranded(in, p) {
			out.add(rescue(in.processes, p))
		}
	}
	return out
}

func replace(in *input, id string) verdict {
	answer, all := in.quorum()
	slots, majority := brief(in.lost[id]), answer > all/2
	heir, running := in.heir(id), in.running()
	// If the heir (the replica to promote) has not been connected to the lost primary since it started, a silent server
	// may have newer data. The silent server would drop that data if the heir became the primary.
	if heir == nil || heir.status.Unlinked {
		running = in.keepers()
	}
	switch {
	case heir == nil && len(running) > 0:
		return refuse(Lost, "no server serves slots %s: waiting for %s%s", slots, list(running), remedy(running))
	case heir == nil && in.isGivenUp(id):
		return verdict{}
	case heir == nil:
		return refuse(Lost, "slots %s are lost: their primary %s is gone, and none of its replicas answers", slots, id)
	case majority && asks(in.answering(), heir):
		return refuse(Election, "slots %s have no primary: %s is about to be elected by %d of %d primaries", slots, heir, answer, all)
	case majority && len(running) > 0:
		return refuse(Fenced, "slots %s have no primary: %s has a copy but may lack the last writes, and cannot become primary until %s answers or is certainly gone%s",
			slots, heir, list(running), remedy(running))
	case majority:
		return take(redis.ForceFailover{Address: heir.Address}, "make %s request votes for slots %s: otherwise it would wait for its primary, which is gone", heir, slots)
	case len(running) > 0:
		return refuse(Fenced, "slots %s have no primary: %d of %d primaries are too few to elect %s, which cannot take over while %s may still run or come back%s",
			slots, answer, all, heir, list(running), remedy(running))
	}
	return take(redis.Takeover{Address: heir.Address}, "make %s take over slots %s: %d of %d primaries are too few to elect it", heir, slots, answer, all)
}

// remedy returns what the user can do about servers that may never come back; "" if all of them may be running.
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
		return fmt.Sprintf("; %s has no node, but its volume still exists: if the volume is lost for good, delete its claim", pods[0])
	}
	return fmt.Sprintf("; %s have no node, but their volumes still exist: delete the claims of volumes that are lost for good", strings.Join(pods, ", "))
}

// asks reports whether a replica of a lost primary requests votes by itself. The replica does not if it has not been
// connected to its primary since its start, or if another server has the primary's address (cluster.c, clusterCron).
func asks(answering []*proc, heir *proc) bool {
	if heir.status.Unlinked {
		return false
	}
	return slices.ContainsFunc(answering, func(p *proc) bool {
		peer, listed := p.status.Peer(heir.status.PrimaryID)
		return listed && (peer.Address != "" || peer.Failed)
	})
}

// Majority reports whether more than half of the primaries with slots answer, so that they can elect a replica.
func Majority(view redis.View, wanted Ring) bool {
	answer, all := survey(view, wanted).quorum()
	return answer > all/2
}
