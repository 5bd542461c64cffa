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
// describes itself in a few words. MoveSlots only begins a longer change.
type Step interface {
	fmt.Stringer
	Apply(ctx context.Context, store Store) error
}

// Meeting introduces one process to another.
type Meeting struct {
	// At is the address of the process that is informed.
	At string
	// To and ID are the address and the ID of the other process.
	To, ID string
}

// Introduce makes processes meet, because one of them is new or has a new address.
type Introduce struct{ Meetings []Meeting }

// SetEpoch gives fresh processes distinct epochs, by address, before they know each other. Otherwise all begin with
// epoch 0 and resolve the conflicts one by one.
type SetEpoch struct{ Epochs map[string]uint64 }

// AssignSlots assigns slots without an owner to primaries, by address.
type AssignSlots struct {
	Slots map[string]Slots
	// Outrank reports that the data of previous owners is given up. Servers believe the owner with the greater epoch. A
	// previous owner that comes back late must not win, as the new writes would be dropped.
	Outrank bool
}

// Admit lets replicas copy processes, by address. A replica copies any process at its primary's address without
// checking the ID, and drops its own data. Therefore a server that is new, or at a new address, starts without
// permission to be copied.
type Admit struct {
	// Runs holds the expected RunIDs, by address. A process with another RunID is not admitted.
	Runs map[string]string
}

// Replicate makes a process follow a primary. The process drops its own data.
type Replicate struct {
	Address   string
	PrimaryID string
}

// TakeLead makes a replica in sync the primary by agreement with its primary. No write is lost, and clients wait for
// less than a second. It is used when a home is back, and for a guest whose primary is about to be stopped.
type TakeLead struct{ Address string }

// Takeover makes a replica the primary without votes.
type Takeover struct{ Address string }

// ForceFailover makes a replica request votes without waiting for its primary, which is gone (Redis: CLUSTER FAILOVER
// FORCE). A replica does not do so by itself if it was restarted since it saw its primary (Redis:
// cluster-replica-validity-factor), or if another process has its primary's address.
type ForceFailover struct{ Address string }

// Forget removes a process from the tables of the processes at some addresses.
type Forget struct {
	ID string
	At []string
}

// ResetEmpty makes a process without keys forget the cluster, so that it can leave.
type ResetEmpty struct{ Address, ID string }

// Renew gives a new ID to a process that was removed from the cluster. For a minute servers ignore a process that they
// forgot (cluster.c, CLUSTER_BLACKLIST_TTL), and Valkey ignores even its introduction.
type Renew struct{ Address, ID string }

func (s Introduce) String() string {
	return fmt.Sprintf("introduce %s", join(s.Meetings, func(m Meeting) string { return m.To + " to " + m.At }))
}

func (s SetEpoch) String() string { return fmt.Sprintf("give %d new servers an epoch", len(s.Epochs)) }

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
