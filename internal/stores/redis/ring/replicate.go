// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// replicate has, of the two processes of each shard, the one that does not lead follow the
// one that does.
func replicate(f *facts) verdict {
	var out verdict
	for i := range f.ring.Nodes {
		leader := f.leader(i)
		if leader == nil {
			continue
		}
		for _, p := range []*proc{f.home(i), f.guest(i)} {
			if p != leader && p.answers && p.status.PrimaryID != leader.id() {
				out.add(f.follow(p, leader))
			}
		}
		if p := f.other(i, leader); p.answers && p.status.PrimaryID == leader.id() && !p.status.LinkUp {
			out.add(refuse(InSync, "%s has yet to get the data of %s", p, leader))
		}
	}
	return out
}

// serving takes no step: it says who does not serve although it is wanted.
func serving(f *facts) verdict {
	var out verdict
	for _, p := range f.procs {
		switch {
		case f.leaves(p):
		case !p.answers:
			out.add(refuse(Silent, "%s %s", p, p.trouble()))
		case !p.status.ClusterOK:
			out.add(refuse(Serving, "%s holds the cluster to be down", p))
		}
	}
	return out
}

// other is the process of shard i that does not lead it.
func (f *facts) other(i int, leader *proc) *proc {
	if leader == f.home(i) {
		return f.guest(i)
	}
	return f.home(i)
}

// trouble is why a process does not answer.
func (p *proc) trouble() string {
	switch {
	case p.returns:
		return "has no node, and its volume is there"
	case p.gone:
		return "is gone"
	case p.Address == "":
		return "has no address yet"
	case p.status.Loading:
		return "loads its data"
	case p.status.Err != nil:
		return "does not answer: " + p.status.Err.Error()
	}
	return "has not been asked yet"
}

// follow has a process follow another, unless that would lose data, or leave a shard with no
// replica that had one.
func (f *facts) follow(p, leader *proc) verdict {
	if leaving := f.leaving(p); leaving.refusals != nil {
		return leaving
	}
	if !p.knows(leader) || !leader.knows(p) {
		return refuse(Acquainted, "%s and %s have yet to hear of each other", p, leader)
	}
	return take(redis.Replicate{Address: p.Address, PrimaryID: leader.id()}, "%s replicates %s", p, leader)
}

// leaving refuses to have a process drop what it holds.
func (f *facts) leaving(p *proc) verdict {
	if p.status.Role == redis.Replica {
		return f.unfollow(p)
	}
	switch {
	case len(p.status.Slots) > 0:
		return refuse(HoldsKeys, "%s has slots %s, which are to be moved first", p, brief(p.status.Slots))
	case p.open():
		return refuse(Moving, "%s has slots open", p)
	case p.status.Keys > 0:
		return refuse(HoldsKeys, "%s has no slots, and yet %d keys: is that data that is missing elsewhere?", p, p.status.Keys)
	}
	return verdict{}
}

// outlived reports whether a replica has nothing that is needed, as its primary has gone for good and had no slots at last: one
// whose pod left while the replica was stopped. All slots have others, everybody answers, and no one who is left, the replica
// included, says that the primary has any, or is about to get some. One that ran on may have the only copy of keys of a slot
// that was open to its primary until another took the lead at the other end, which knows nothing of that (Redis 7).
func (f *facts) outlived(replica *proc) bool {
	id := replica.status.PrimaryID
	return replica.status.Unlinked && len(f.lost) == 0 && len(f.unowned) == 0 && len(f.view.Passing) == 0 && len(f.silent()) == 0 &&
		len(f.claimed(id)) == 0 && !f.expects(id)
}

// unfollow refuses to have a replica give up its primary: for good, while that is lost, and
// else until the primary has another replica in sync, or nothing to be replicated.
func (f *facts) unfollow(p *proc) verdict {
	primary := f.byID[p.status.PrimaryID]
	if primary == nil && f.forsaken(p.status.PrimaryID) && !p.status.HasCopy() {
		return verdict{}
	}
	if primary == nil {
		if slots := f.lost[p.status.PrimaryID]; len(slots) > 0 {
			return refuse(Election, "%s has slots %s of a primary that does not answer", p, brief(slots))
		}
		switch {
		case p.status.Keys == 0 || f.election() == "" || f.outlived(p):
		case f.expects(p.status.PrimaryID):
			return refuse(Election, "%s has %d keys of a primary that does not answer, and slots are open that go there", p, p.status.Keys)
		default:
			return refuse(Election, "%s has %d keys of a primary that does not answer; if that has left for good and no key is missing, delete pod %d", p, p.status.Keys, p.Pod)
		}
		return verdict{}
	}
	if primary.leads() && !f.secured(primary, p) {
		return refuse(LastReplica, "%s is the only replica of %s until another one is in sync", p, primary)
	}
	return verdict{}
}
