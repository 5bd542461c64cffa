// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// mustRest returns why a server cannot be elected so soon after another election; "" if it can.
func mustRest(address string, status redis.NodeStatus, ring Ring) string {
	switch {
	case ring.LostElection[address]:
		return "has just lost an election"
	case status.Past.Recent(ring.Elections) && !elections.Free(status.Version.Number, status.Version.Valkey):
		return "may have been the primary a moment ago"
	case ring.New && spent(status):
		return "may have lost the last election, which no replica has won"
	}
	return ""
}

// spent reports whether no replica has won the latest election that this replica knows of. Each election has a new
// epoch, and its winner keeps that epoch. So no replica has won if no server in this replica's node table has an epoch
// as high as the replica's current epoch.
func spent(replica redis.NodeStatus) bool {
	return !slices.ContainsFunc(replica.Known, func(p redis.Peer) bool { return p.ConfigEpoch >= replica.CurrentEpoch })
}
