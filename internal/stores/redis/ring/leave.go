// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// leave removes the servers of surplus pods (beyond the desired number) from the cluster when their data is not needed.
// A replica first follows the emptied primary of its own pod, so that it drops its keys. Then it is reset, and all
// other servers forget it.
func leave(in *input) verdict {
	var out verdict
	leaving := in.leaving()
	for _, p := range leaving {
		if in.view.Redirects(p.Address) {
			return refuse(Moving, "%s redirects clients to the new owners of its slots until no client needs this, for at most %s", p, redis.RedirectGrace)
		}
	}
	slices.SortStableFunc(leaving, func(a, b *proc) int { // remove replicas before their primaries
		return rank(a) - rank(b)
	})
	for _, p := range leaving {
		out.add(takeOut(in, p))
	}
	return out
}

func rank(p *proc) int {
	if p.status.Role == redis.Replica {
		return 0
	}
	return 1
}

func takeOut(in *input, p *proc) verdict {
	next := replicaOf(in.leaving())
	switch {
	case p.gone:
		return verdict{}
	case !p.answers:
		return refuse(Silent, "%s will be removed, but opcrew does not know which data it has: it %s", p, p.trouble())
	case p.status.Fresh():
		return forgetLeft(in.members(), p)
	case p.leads():
		return refuse(Moving, "%s will be removed, but still has slots %s", p, brief(p.status.Slots))
	case len(in.followers(p.id())) > 0:
		return refuse(LastReplica, "%s will be removed, but %s still replicates it", p, in.followers(p.id())[0])
	case p.status.Role == redis.Replica:
		return release(in, p)
	case p.status.Keys > 0:
		return refuse(HoldsKeys, "%s will be removed; it has no slots but %d keys: check whether these keys are missing elsewhere", p, p.status.Keys)
	case p.open():
		return refuse(Moving, "%s will be removed, but some of its slots are still being moved", p)
	case next != nil:
		return refuse(LastReplica, "%s is removed after %s", p, next)
	}
	return take(redis.ResetEmpty{Address: p.Address, ID: p.id()}, "remove %s from the cluster", p)
}

// release makes a replica of a surplus pod (beyond the desired number) drop its data, and then removes the replica from
// the cluster.
func release(in *input, p *proc) verdict {
	if found := mayUnfollow(in, p); found.refusals != nil {
		return found
	}
	if primary := in.byID[p.status.PrimaryID]; primary != nil && primary.idle() {
		if p.status.Keys > 0 || !p.status.LinkUp {
			return refuse(HoldsKeys, "%s will be removed, but has yet to drop its copy of the data", p)
		}
		return take(redis.ResetEmpty{Address: p.Address, ID: p.id()}, "remove %s from the cluster", p)
	}
	for _, empty := range in.leaving() {
		if empty.idle() && !empty.status.Fresh() && !empty.open() {
			return follow(in, p, empty)
		}
	}
	return refuse(HoldsKeys, "%s will be removed, but cannot drop its copy of the data of %s: no emptied home server is left that it could replicate", p, p.status.PrimaryID)
}

// replicaOf returns the first replica among the servers of surplus pods. Replicas must be removed before emptied
// primaries, because a replica may have to follow an emptied primary to drop its keys.
func replicaOf(leaving []*proc) *proc {
	for _, p := range leaving {
		if p.replica() {
			return p
		}
	}
	return nil
}

// forgetLeft makes all other servers forget a server that has been reset.
func forgetLeft(members []*proc, p *proc) verdict {
	var at []string
	for _, other := range members {
		if other != p && other.lists(p.id()) {
			at = append(at, other.Address)
		}
	}
	if len(at) == 0 {
		return verdict{}
	}
	return take(redis.Forget{ID: p.id(), At: at}, "forget %s, which was removed from the cluster", p)
}
