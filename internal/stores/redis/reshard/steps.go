// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// CancelMove closes slots that are open at a process but no longer moved. If other processes have keys of a slot, the
// slot is instead opened at both ends, towards the process with the most keys, so that the move can be finished.
type CancelMove struct {
	Address string
	Slots   server.Slots
	Others  []End
}

// End is one end of a move.
type End struct{ Address, ID string }

// Move moves slots from one primary to another.
type Move struct {
	From, To End
	Slots    server.Slots
}

// MoveSlots begins a move of slots in the background. Prober.Take executes it.
type MoveSlots struct {
	Moves []Move
	// Bare holds the IDs of the primaries without slots. They get function libraries before their first slot.
	Bare []string
	// Goal is the number of pods after the moves. The move is stopped if another number becomes desired.
	Goal int
	// Shards is the number of primaries with slots before the move.
	Shards int
	// Bytes is the estimated size of the move, and BytesPerSecond its highest rate; 0 means no limit.
	Bytes, BytesPerSecond int64
	// Open reports that the slots were left open. They are moved even to a primary that has lost its replica.
	Open bool
	// Spread reports that commands are sent over several connections. It is for servers that answer SETSLOT only when
	// their replicas have executed it.
	Spread bool
	// ByJobs reports that the servers move the slots by jobs: see Job.
	ByJobs bool
	// ByTasks reports that these are the jobs of Redis, not of Valkey: see Job.
	ByTasks bool
}

// CancelJob cancels a job of Redis, at the process that gets the slots.
type CancelJob struct{ Address, Name string }

// StopMove ends the running move of slots within ten seconds. Open slots are first completed, without a rate limit.
// Slots that stay open are left to the next plan, as is a job of the servers once it has ended.
type StopMove struct{}

func (s CancelMove) String() string {
	return fmt.Sprintf("close slots %s at %s", s.Slots, s.Address)
}

func (s CancelJob) String() string { return "cancel job " + s.Name + " of " + s.Address }

func (s MoveSlots) String() string {
	n := 0
	for _, move := range s.Moves {
		n += move.Slots.Len()
	}
	return fmt.Sprintf("move %d slots", n)
}

func (s StopMove) String() string { return "stop moving slots" }

// errBackground reports that Apply cannot execute the step.
var errBackground = errors.New("slots are moved in the background: see Prober.Take")

// Apply returns an error, because the prober executes the step in the background.
func (s MoveSlots) Apply(context.Context, server.Store) error { return errBackground }

// Apply returns an error, because the prober executes the step in the background.
func (s StopMove) Apply(context.Context, server.Store) error { return errBackground }
