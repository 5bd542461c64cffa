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

// Step is one change of a cluster. It is over within two seconds, may be repeated after a
// crash or a lost answer, and says in a few words what it does. The move of slots, which
// takes longer, is a step that only begins it: see MoveSlots.
type Step interface {
	fmt.Stringer
	apply(ctx context.Context, store Store) error
}

// Meeting is one process that is informed of another.
type Meeting struct {
	// At is the address of the process that is told.
	At string
	// To and ID are the address and the id of the one it is informed of.
	To, ID string
}

// Introduce has processes meet: one that is new, or one that has moved to another address.
type Introduce struct{ Meetings []Meeting }

// SetEpoch gives fresh processes distinct epochs, by address, before they know each other.
// Without it each would begin with 0, and they would have to settle that one after another.
type SetEpoch struct{ Epochs map[string]uint64 }

// AssignSlots gives slots that no one claims to primaries, by address.
type AssignSlots struct {
	Slots map[string]Slots
	// Outrank reports that others had them, whose data is given up. Of two that claim a slot servers believe the one with
	// the greater epoch: without one a former owner that comes back late would win, and what was written since be dropped.
	Outrank bool
}

// Admit lets replicas copy processes, by address. A replica copies anyone who is at the address that its primary had, and
// never asks who that is: if it is another server by now, the data that it copies is another's, and its own is gone, which
// may be the last there is. So a server that is new, or at a new address, is started such that no one may copy it.
type Admit struct {
	// Runs are the RunID of each that is meant: another that has taken its address since is not.
	Runs map[string]string
}

// Replicate has a process follow a primary. What it held before is gone.
type Replicate struct {
	Address   string
	PrimaryID string
}

// TakeLead has a replica in sync take the lead, by agreement with the primary: no write is
// lost, and clients wait for less than a second. It is for a home that is back, and for a guest
// whose home is about to be stopped.
type TakeLead struct{ Address string }

// Takeover has a replica take the lead without asking anybody.
type Takeover struct{ Address string }

// ForceFailover has a replica ask the others for their votes without waiting for its primary, which
// is gone (Redis: CLUSTER FAILOVER FORCE). It is for one that was restarted since it saw the primary
// last: such a one does not ask by itself, however long it is waited for (Redis:
// cluster-replica-validity-factor). Nor does one whose primary's address another process has.
type ForceFailover struct{ Address string }

// Forget has processes, by address, strike one from their tables.
type Forget struct {
	ID string
	At []string
}

// CancelMove closes slots that a process has open and that are moved no more. If others have
// keys of a slot after all, it is opened to who has most of them instead, at both ends, for the
// move to be finished.
type CancelMove struct {
	Address string
	Slots   Slots
	Others  []End
}

// ResetEmpty has a process without keys forget the cluster, so that it can leave it.
type ResetEmpty struct{ Address, ID string }

// Renew has a process that was in a cluster, and was taken out, be another one. Servers do not hear again of one that they
// forgot less than a minute ago (cluster.c, CLUSTER_BLACKLIST_TTL), and Valkey not even if they are introduced.
type Renew struct{ Address, ID string }

// End is one end of a move.
type End struct{ Address, ID string }

// Move is slots that go from one primary to another.
type Move struct {
	From, To End
	Slots    Slots
}

// MoveSlots begins a move of slots in the background. Anyone who takes the step does so by
// Prober.Take.
type MoveSlots struct {
	Moves []Move
	// Bare are the ids of the primaries that have no slots: they get function libraries before their first.
	Bare []string
	// Goal is the number of pods that the moves lead to. A wish for another number is a
	// reason to stop.
	Goal int
	// Shards is the number of primaries that have slots before.
	Shards int
	// Bytes is the estimate of how much is moved, and BytesPerSecond how fast: 0 is as fast
	// as can be.
	Bytes, BytesPerSecond int64
	// Open reports that the slots were left open: they are moved also to a primary that has lost its replica.
	Open bool
	// Spread has commands be sent over several connections: for servers that answer SETSLOT only when their replicas
	// have it.
	Spread bool
	// ByJobs reports that the servers move the slots by themselves: see Job.
	ByJobs bool
	// ByTasks says that they are those of Redis: see Job.
	ByTasks bool
}

// CancelJob calls a job of Redis off, at the end that gets its slots.
type CancelJob struct{ Address, Name string }

// StopMove ends the move of slots under way, once the slots that are open have been moved: at once, whatever the rate is,
// and within ten seconds. What is open then stays open: the next plan takes it up. So it does with a job of the servers,
// once that has ended.
type StopMove struct{}

func (s Introduce) String() string {
	return fmt.Sprintf("introduce %s", join(s.Meetings, func(m Meeting) string { return m.To + " to " + m.At }))
}

func (s SetEpoch) String() string { return fmt.Sprintf("number %d new processes", len(s.Epochs)) }

func (s AssignSlots) String() string {
	return fmt.Sprintf("assign slots to %d primaries", len(s.Slots))
}

func (s Admit) String() string {
	return "let replicas copy " + strings.Join(slices.Sorted(maps.Keys(s.Runs)), ", ")
}

func (s Replicate) String() string {
	return fmt.Sprintf("have %s replicate %s", s.Address, s.PrimaryID)
}

func (s TakeLead) String() string { return "have " + s.Address + " take the lead by agreement" }

func (s Takeover) String() string {
	return "have " + s.Address + " take the lead of a lost primary"
}

func (s ForceFailover) String() string {
	return "have " + s.Address + " be elected in the place of a lost primary"
}

func (s Forget) String() string { return "forget " + s.ID }

func (s CancelMove) String() string {
	return fmt.Sprintf("close slots %s at %s", s.Slots, s.Address)
}

func (s CancelJob) String() string { return "call off job " + s.Name + " of " + s.Address }

func (s ResetEmpty) String() string { return "take " + s.Address + " out of the cluster" }

func (s Renew) String() string { return "have " + s.Address + " be a new process" }

func (s MoveSlots) String() string {
	n := 0
	for _, move := range s.Moves {
		n += move.Slots.Len()
	}
	return fmt.Sprintf("move %d slots", n)
}

func (s StopMove) String() string { return "stop moving slots" }

func join[T any](items []T, text func(T) string) string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = text(item)
	}
	return strings.Join(out, ", ")
}
