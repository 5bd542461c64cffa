// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// mostLag is how many bytes a replica may lag behind its primary before a failover by agreement. The primary serves no
// clients until the replica has caught up.
const mostLag = 1 << 20

// mayLead refuses a failover that the replica would not win, or that would make clients wait too long.
func mayLead(in *input, replica, primary *proc) verdict {
	answer, all := in.quorum()
	voters := voters(in.leaders(), replica, primary)
	lag := primary.status.Offset - replica.status.Offset
	switch {
	case !replica.status.LinkUp:
		return refuse(InSync, "%s has not copied all data of %s yet", replica, primary)
	case lag > mostLag:
		return refuse(InSync, "%s is %s behind %s, and the limit is %s", replica, size(lag), primary, size(mostLag))
	case answer <= all/2 || !primary.status.ClusterOK || !replica.status.ClusterOK:
		return refuse(Quorum, "only %d of %d primaries answer, too few to elect %s", answer, all, replica)
	case primary.open() && !in.closes:
		return refuse(Moving, "some slots of %s are being moved", primary)
	case !primary.knows(replica) || !replica.knows(primary):
		return refuse(Acquainted, "%s and %s do not know each other yet", replica, primary)
	case replica.mustRest != "":
		return refuse(Acquainted, "%s %s, and a server cannot win another election so soon", replica, replica.mustRest)
	case !votesFor(primary, replica, primary):
		// A primary ignores the failover request of a replica that it does not list as its own.
		return refuse(Acquainted, "%s does not know yet that %s replicates it", primary, replica)
	case voters <= all/2:
		return refuse(Acquainted, "only %d of %d primaries know that %s replicates %s, too few to elect it", voters, all, replica, primary)
	}
	return verdict{}
}

// voters counts the primaries that would vote for a replica. If they are too few, a failover to that replica would
// fail, and the primary would serve no clients until the failover timed out.
func voters(leaders []*proc, replica, primary *proc) int {
	n := 0
	for _, p := range leaders {
		if votesFor(p, replica, primary) {
			n++
		}
	}
	return n
}

// votesFor reports whether a primary (voter) would vote for a replica (cluster.c, clusterSendFailoverAuthIfNeeded). The
// voter must know which primary the replica follows, and must not have a higher epoch. The links in both directions
// must be up.
func votesFor(voter, replica, primary *proc) bool {
	there, heard := voter.status.Peer(replica.id())
	back, knows := replica.status.Peer(voter.id())
	return heard && knows && there.Connected && back.Connected && !there.Handshake && !back.Handshake &&
		there.Role == redis.Replica && there.PrimaryID == primary.id() &&
		replica.status.CurrentEpoch >= voter.status.CurrentEpoch
}
