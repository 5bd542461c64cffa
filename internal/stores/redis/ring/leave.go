// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// leave takes the processes of pods that are wanted no more out of the cluster, once they
// have nothing that is needed. A replica is first made to follow the emptied home of its own
// pod, as a reset has it drop what it holds; then it is reset, and then struck out
// everywhere else. It may come back at any moment: what is left is a new process.
func leave(f *facts) verdict {
	var out verdict
	leaving := f.where(f.leaves)
	for _, p := range leaving {
		if f.view.Redirects(p.Address) {
			return refuse(Moving, "%s redirects clients that have yet to hear who has its slots, until none comes, for up to %s", p, redis.Courtesy)
		}
	}
	slices.SortStableFunc(leaving, func(a, b *proc) int { // replicas before whom they follow
		return rank(a) - rank(b)
	})
	for _, p := range leaving {
		out.add(f.dismiss(p))
	}
	return out
}

func rank(p *proc) int {
	if p.status.Role == redis.Replica {
		return 0
	}
	return 1
}

func (f *facts) dismiss(p *proc) verdict {
	switch {
	case p.gone:
		return verdict{}
	case !p.answers:
		return refuse(Silent, "%s leaves, and it is not known what it holds: it %s", p, p.trouble())
	case p.status.Fresh():
		return f.strike(p)
	case p.leads():
		return refuse(Moving, "%s leaves, and has slots %s yet", p, brief(p.status.Slots))
	case len(f.followers(p.id())) > 0:
		return refuse(LastReplica, "%s leaves, and %s follows it yet", p, f.followers(p.id())[0])
	case p.status.Role == redis.Replica:
		return f.release(p)
	case p.status.Keys > 0:
		return refuse(HoldsKeys, "%s leaves, has no slots, and yet %d keys: is that data that is missing elsewhere?", p, p.status.Keys)
	case p.open():
		return refuse(Moving, "%s leaves, and has slots open", p)
	case f.dependent() != nil:
		return refuse(LastReplica, "%s leaves after %s", p, f.dependent())
	}
	return take(redis.ResetEmpty{Address: p.Address, ID: p.id()}, "take %s out of the cluster", p)
}

// release has a replica that leaves hold nothing, and then takes it out.
func (f *facts) release(p *proc) verdict {
	if found := f.unfollow(p); found.refusals != nil {
		return found
	}
	if primary := f.byID[p.status.PrimaryID]; primary != nil && primary.idle() {
		if p.status.Keys > 0 || !p.status.LinkUp {
			return refuse(HoldsKeys, "%s leaves, and has yet to drop what it held", p)
		}
		return take(redis.ResetEmpty{Address: p.Address, ID: p.id()}, "take %s out of the cluster", p)
	}
	for _, empty := range f.where(f.leaves) {
		if empty.idle() && !empty.status.Fresh() && !empty.open() {
			return f.follow(p, empty)
		}
	}
	return refuse(HoldsKeys, "%s leaves with a copy of what %s has, as no emptied home is left for it to follow", p, p.status.PrimaryID)
}

// dependent is a replica that leaves too, and may yet have to follow an emptied home.
func (f *facts) dependent() *proc {
	for _, p := range f.where(f.leaves) {
		if p.answers && p.status.Role == redis.Replica {
			return p
		}
	}
	return nil
}

// strike has everybody else forget one that has been reset.
func (f *facts) strike(p *proc) verdict {
	var at []string
	for _, other := range f.members() {
		if _, listed := other.status.Peer(p.id()); listed && other != p {
			at = append(at, other.Address)
		}
	}
	if len(at) == 0 {
		return verdict{}
	}
	return take(redis.Forget{ID: p.id(), At: at}, "forget %s, which has left", p)
}

// Left reports whether a pod that is wanted no more can be deleted: its processes have nothing
// that is needed, and no one knows them any more. One that is gone is not waited for, nor does anybody leave while someone
// may come back with keys of slots that were on their way: it is not known then whose place that had.
func Left(view redis.View, wanted Ring, pod int) bool {
	f := survey(view, wanted)
	if view.Err != nil || view.Stale || pod < wanted.Nodes || pod >= len(wanted.Pods) {
		return false
	}
	if len(f.keepers()) > 0 && slices.ContainsFunc(f.openSlots(), f.awaits) {
		return false
	}
	for _, p := range f.procs[2*pod : 2*pod+2] {
		if p.gone || !p.answers && f.isComplete() {
			continue
		}
		if !p.answers || !p.status.Fresh() || f.strike(p).step != nil {
			return false
		}
	}
	return len(f.answering()) > 0 && len(f.lost) == 0
}

// isComplete tells whether the cluster lacks nobody: all slots are served by who answers, and who answers knows of no
// other. Anyone who does not answer has never been in it, as in a pod that could not start.
func (f *facts) isComplete() bool {
	return len(f.lost) == 0 && len(f.unowned) == 0 && len(f.view.Passing) == 0 && len(f.dead()) == 0 && f.election() == "" &&
		!slices.ContainsFunc(f.primaries(), (*proc).open)
}
