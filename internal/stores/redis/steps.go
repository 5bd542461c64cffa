// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Step is one change of a cluster. It takes at most two seconds, may be repeated after a crash or a lost answer, and
// describes itself in a few words. MoveSlots only starts a longer change.
type Step interface {
	fmt.Stringer
	Apply(ctx context.Context, store Store) error
}

// Meeting describes the introduction of one server to another.
type Meeting struct {
	// At is the address of the server that receives the command.
	At string
	// To and ID are the address and the ID of the server that the server at address At should meet.
	To, ID string
}

// Introduce makes servers meet, because one of them is new or has a new address.
type Introduce struct{ Meetings []Meeting }

// SetEpoch gives each new server a different epoch before the servers know each other. Otherwise all servers would
// start with epoch 0, and resolve the conflicts one by one. Epochs holds the epochs by the address of the server.
type SetEpoch struct{ Epochs map[string]uint64 }

// RaiseEpoch gives a primary the highest epoch of the cluster (CLUSTER BUMPEPOCH). The primary keeps its slots.
type RaiseEpoch struct{ Address string }

// AssignSlots assigns slots that have no owner. Slots holds the slots for each primary, by the address of the primary.
type AssignSlots struct {
	Slots map[string]Slots
	// Outrank gives the new owners higher epochs than the previous owners, whose data the user has given up. Servers
	// believe the owner with the highest epoch, so a previous owner that comes back does not get its slots again.
	Outrank bool
}

// Admit lets replicas copy the given servers. A replica copies any server that has its primary's address without
// checking the ID, and drops its own data. So a server that is new, or has a new address, starts without the permission
// to be copied.
type Admit struct {
	// Runs holds the expected RunIDs, by address. A server with another RunID does not get the permission to be
	// copied.
	Runs map[string]string
}

// Replicate makes a server follow a primary. The server drops its own data.
type Replicate struct {
	Address   string
	PrimaryID string
}

// TakeLead makes a replica in sync the primary by agreement with its primary. No write is lost, and clients wait for
// less than a second. It is used before a primary is stopped, and to make a shard's usual primary the primary again.
type TakeLead struct{ Address string }

// Takeover makes a replica the primary without votes.
type Takeover struct{ Address string }

// ForceFailover makes a replica request votes without waiting for its primary, which is gone (CLUSTER FAILOVER FORCE).
// A replica does not request votes by itself if it has not seen its primary since its start, or if another server has
// the primary's address.
type ForceFailover struct{ Address string }

// Forget removes a server from the node tables of other servers. At holds the addresses of these other servers.
type Forget struct {
	ID string
	At []string
}

// ResetEmpty makes a server without keys forget the cluster, so that it can leave.
type ResetEmpty struct{ Address, ID string }

// Renew gives a new ID to a server that was removed from the cluster. For a minute, servers ignore the ID of a server
// that they forgot (cluster.c, CLUSTER_BLACKLIST_TTL). Valkey even ignores the introduction of such a server.
type Renew struct{ Address, ID string }

func (s Introduce) String() string {
	return fmt.Sprintf("introduce %s", join(s.Meetings, func(m Meeting) string { return m.To + " to " + m.At }))
}

func (s SetEpoch) String() string { return fmt.Sprintf("give %d new servers an epoch", len(s.Epochs)) }

func (s RaiseEpoch) String() string { return "raise the epoch of " + s.Address }

func (s AssignSlots) String() string {
	return fmt.Sprintf("assign slots to %d primaries", len(s.Slots))
}

func (s Admit) String() string {
	return "allow replicas to copy " + strings.Join(slices.Sorted(maps.Keys(s.Runs)), ", ")
}

func (s Replicate) String() string {
	return fmt.Sprintf("have %s replicate %s", s.Address, s.PrimaryID)
}

func (s TakeLead) String() string { return "have " + s.Address + " become primary by agreement" }

func (s Takeover) String() string {
	return "have " + s.Address + " become primary without votes"
}

func (s ForceFailover) String() string {
	return "have " + s.Address + " be elected in place of a lost primary"
}

func (s Forget) String() string { return "forget " + s.ID }

func (s ResetEmpty) String() string { return "remove " + s.Address + " from the cluster" }

func (s Renew) String() string { return "have " + s.Address + " get a new ID" }

func join[T any](items []T, text func(T) string) string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = text(item)
	}
	return strings.Join(out, ", ")
}
