// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/redis"
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
	return out
}

func (f *facts) replace(id string, majority bool, answer, all int) verdict {
	slots := brief(f.lost[id])
	heir := f.heir(id)
	running := f.where(func(p *proc) bool { return !p.answers && !p.gone })
	switch {
	case heir == nil && len(running) > 0:
		return refuse(Lost, "slots %s are served by nobody: waiting for %s", slots, list(running))
	case heir == nil:
		return refuse(Lost, "slots %s are lost: their primary %s is gone, and no replica of it answers", slots, id)
	case majority:
		return refuse(Election, "slots %s: %s is about to be elected by %d of %d primaries", slots, heir, answer, all)
	case len(running) > 0:
		return refuse(Fenced, "slots %s: %d of %d primaries are too few to elect %s, which may not take over while %s may still run",
			slots, answer, all, heir, list(running))
	}
	return take(redis.Takeover{Address: heir.Address}, "have %s take over slots %s: %d of %d primaries are too few to elect it", heir, slots, answer, all)
}

// heir is the replica of a lost primary that has most of its writes.
func (f *facts) heir(id string) *proc {
	heirs := f.followers(id)
	if len(heirs) == 0 {
		return nil
	}
	return slices.MaxFunc(heirs, func(a, b *proc) int { return int(a.status.Offset - b.status.Offset) })
}
