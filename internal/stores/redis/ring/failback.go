// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// mostLag is how many bytes a replica may be behind for it to take the lead by agreement:
// the primary serves no one until the replica has them.
const mostLag = 1 << 20

// failback has homes take the lead that a guest has taken.
func failback(f *facts) verdict {
	var out verdict
	for _, home := range f.procs {
		guest := f.byID[home.status.PrimaryID]
		if home.Place != redis.Home || home.yields || !home.answers || home.status.Role != redis.Replica {
			continue
		}
		if guest == nil || guest.Place != redis.Guest || !guest.leads() {
			continue
		}
		if found := f.mayLead(home, guest); found.refusals != nil {
			out.add(found)
			continue
		}
		out.add(take(redis.TakeLead{Address: home.Address}, "%s takes the lead back from %s", home, guest))
	}
	return out
}

// handover has a home that is about to be stopped give the lead to its guest: clients then wait
// for less than a second, and not for an election.
func handover(f *facts) verdict {
	var out verdict
	for i := range f.ring.Nodes {
		home, guest := f.home(i), f.guest(i)
		if !home.yields || !home.leads() || guest.Pod == home.Pod || guest.yields || !guest.answers || guest.status.PrimaryID != home.id() {
			continue
		}
		if found := f.mayLead(guest, home); found.refusals != nil {
			out.add(found)
			continue
		}
		out.add(take(redis.TakeLead{Address: guest.Address}, "%s hands over to %s", home, guest))
	}
	return out
}

// handsOver reports whether a home is about to give the lead to its guest, as its pod is about to be stopped. One that leaves
// is to be emptied before, and one whose guest follows another yet gets it back by what is moved.
func (f *facts) handsOver(p *proc) bool {
	if !p.yields || p.Place != redis.Home || !p.leads() || f.leaves(p) {
		return false
	}
	guest := f.guest(p.Pod)
	return guest != p && guest.answers && guest.status.PrimaryID == p.id() && guest.status.LinkUp
}

// mayLead refuses a failover that the replica would not win, or that would keep clients
// waiting for long.
func (f *facts) mayLead(replica, primary *proc) verdict {
	answer, all := f.quorum()
	voters := f.voters(replica, primary)
	lag := primary.status.Offset - replica.status.Offset
	switch {
	case !replica.status.LinkUp:
		return refuse(InSync, "%s has yet to get the data of %s", replica, primary)
	case lag > mostLag:
		return refuse(InSync, "%s is %s behind %s, and may be %s", replica, size(lag), primary, size(mostLag))
	case answer <= all/2 || !primary.status.ClusterOK || !replica.status.ClusterOK:
		return refuse(Quorum, "%d of %d primaries answer: %s could not be elected", answer, all, replica)
	case primary.open() && !f.closes:
		return refuse(Moving, "%s has slots open", primary)
	case !primary.knows(replica) || !replica.knows(primary):
		return refuse(Acquainted, "%s and %s have yet to hear of each other", replica, primary)
	case f.tires(replica) != "":
		return refuse(Acquainted, "%s %s, and servers let no election follow so soon", replica, f.tires(replica))
	case !votesFor(primary, replica, primary): // it does not even stop for a replica that it does not know as its own
		return refuse(Acquainted, "%s has yet to hear that %s follows it", primary, replica)
	case voters <= all/2:
		return refuse(Acquainted, "%d of %d primaries have heard that %s follows %s", voters, all, replica, primary)
	}
	return verdict{}
}

// spent reports whether there was an election that no one has won: the epoch that a replica has counted to is no primary's.
func (f *facts) spent(replica *proc) bool {
	return !slices.ContainsFunc(replica.status.Known, func(p redis.Peer) bool { return p.ConfigEpoch >= replica.status.CurrentEpoch })
}

// tires says why a replica may not be elected as yet, as there was another election; "" if it may.
func (f *facts) tires(p *proc) string {
	switch {
	case f.ring.Beaten[p.Address]:
		return "has just lost an election"
	case p.status.Past.Recent(f.ring.Elections) && !elections.Free(p.status.Version.Number, p.status.Version.Valkey):
		return "may have led a moment ago"
	case f.ring.New && f.spent(p):
		return "may have lost an election, as there was one that nobody has won"
	}
	return ""
}

// voters counts the primaries that would vote for a replica. One that would not keeps clients waiting: the primary
// serves no one until the attempt is given up.
func (f *facts) voters(replica, primary *proc) int {
	n := 0
	for _, p := range f.leaders() {
		if votesFor(p, replica, primary) {
			n++
		}
	}
	return n
}

// votesFor reports whether a voter would (cluster.c, clusterSendFailoverAuthIfNeeded): it knows whom the replica follows,
// and is not further than the replica in the count of elections; and by both of their links, as it answers by its own,
// and what comes from a node that it does not know is dropped without a word (clusterProcessPacket).
func votesFor(voter, replica, primary *proc) bool {
	there, heard := voter.status.Peer(replica.id())
	back, knows := replica.status.Peer(voter.id())
	return heard && knows && there.Connected && back.Connected && !there.Handshake && !back.Handshake &&
		there.Role == redis.Replica && there.PrimaryID == primary.id() &&
		replica.status.CurrentEpoch >= voter.status.CurrentEpoch
}
