// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// mayDrop refuses steps that make a server drop data that may be needed.
func mayDrop(in *input, p *proc) verdict {
	if p.status.Role == redis.Replica {
		return mayUnfollow(in, p)
	}
	switch {
	case len(p.status.Slots) > 0:
		return refuse(HoldsKeys, "%s still has slots %s, which must be moved first", p, brief(p.status.Slots))
	case p.open():
		return refuse(Moving, "some slots of %s are being moved", p)
	case p.status.Keys > 0:
		return refuse(HoldsKeys, "%s has no slots but %d keys: check whether these keys are missing elsewhere", p, p.status.Keys)
	}
	return verdict{}
}

// mayUnfollow refuses to let a replica leave its primary in two cases: the primary has slots and no other replica in
// sync, or the primary does not answer and the replica may have the only copy of its data.
func mayUnfollow(in *input, p *proc) verdict {
	if primary := in.byID[p.status.PrimaryID]; primary != nil {
		if primary.leads() && !in.secured(primary, p) {
			return refuse(LastReplica, "%s is the only replica of %s until another one is in sync", p, primary)
		}
		return verdict{}
	}
	id := p.status.PrimaryID
	if in.isGivenUp(id) && !p.status.HasCopy() {
		return verdict{}
	}
	slots := in.lost[id]
	switch {
	case len(slots) > 0:
		return refuse(Election, "%s has a copy of slots %s of a primary that does not answer", p, brief(slots))
	case p.status.Keys == 0 || in.election() == "" || outlived(in, p):
		return verdict{}
	case in.expects(id):
		return refuse(Election, "%s has %d keys of a primary that does not answer, and slots were being moved to that primary", p, p.status.Keys)
	}
	return refuse(Election, "%s has %d keys of a primary that does not answer; if that primary is gone for good and no key is missing, delete pod %d", p, p.status.Keys, p.Pod)
}

// outlived reports whether the data of a replica is not needed: the replica was stopped, and meanwhile its primary gave
// all slots away and left the cluster. All slots must be served, and no server may list slots of that primary. For
// replicas that kept running, see docs/design/redis.md.
func outlived(in *input, replica *proc) bool {
	id := replica.status.PrimaryID
	return replica.status.Unlinked && in.served() && len(in.silent()) == 0 && len(in.claimed(id)) == 0 && !in.expects(id)
}
