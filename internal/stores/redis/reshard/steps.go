// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// CancelMove ends the interrupted move of slots at a server. If other servers have keys of a slot, CancelMove instead
// prepares this server and the other server with the most keys of the slot, so that a later step can finish the move.
type CancelMove struct {
	Address string
	Slots   server.Slots
	Others  []End
}

// End identifies the source or the destination of a move.
type End struct{ Address, ID string }

// Move describes a move of slots from one primary to another.
type Move struct {
	From, To End
	Slots    server.Slots
}

// MoveSlots starts a move of slots in the background. Prober.Take executes this step.
type MoveSlots struct {
	Moves []Move
	// Bare holds the IDs of the primaries without slots. They get function libraries before their first slot.
	Bare []string
	// Goal is the number of pods after the move. The move is stopped if the spec requests another number.
	Goal int
	// Shards is the number of primaries with slots before the move.
	Shards int
	// Bytes is the estimated size of the move. BytesPerSecond is its maximum rate; 0 means no limit.
	Bytes, BytesPerSecond int64
	// Open reports that the slots of this plan belong to an interrupted move. They are moved even to a primary that has
	// lost its replica.
	Open bool
	// Spread makes the move send its commands over several connections. It is set if a server answers SETSLOT only
	// after its replicas have executed it.
	Spread bool
	// ByJobs reports that the servers move the slots with slot migration jobs: see Job.
	ByJobs bool
	// ByTasks reports that these jobs are those of Redis, and not of Valkey: see Job.
	ByTasks bool
}

// CancelJob cancels a slot migration job of Redis, at the server that receives the slots.
type CancelJob struct{ Address, Name string }

// StopMove stops the running move of slots within ten seconds. Slots that are half moved are completed first, without a
// rate limit. The next plan continues with slots that remain half moved.
type StopMove struct{}

func (s CancelMove) String() string {
	return fmt.Sprintf("cancel the move of slots %s at %s", s.Slots, s.Address)
}

func (s CancelJob) String() string { return "cancel slot migration job " + s.Name + " of " + s.Address }

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
