// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// CancelMove closes slots that a process has open and that are no longer moved. A slot whose keys other processes have is
// opened at both ends instead, to the one that has most, so that the move can be finished.
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

// MoveSlots begins a move of slots in the background. Prober.Take carries it out.
type MoveSlots struct {
	Moves []Move
	// Bare are the IDs of the primaries without slots: they get function libraries before their first slot.
	Bare []string
	// Goal is the number of pods that the moves lead to. Another desired number is a reason to stop.
	Goal int
	// Shards is the number of primaries with slots before the move.
	Shards int
	// Bytes is the estimated size of the move, and BytesPerSecond its highest rate; 0 means no limit.
	Bytes, BytesPerSecond int64
	// Open reports that the slots were left open: they are moved even to a primary that has lost its replica.
	Open bool
	// Spread sends commands over several connections: for servers that answer SETSLOT only when their replicas have carried it
	// out.
	Spread bool
	// ByJobs reports that the servers move the slots by themselves: see Job.
	ByJobs bool
	// ByTasks reports that their jobs are those of Redis: see Job.
	ByTasks bool
}

// CancelJob cancels a job of Redis, at the end that gets its slots.
type CancelJob struct{ Address, Name string }

// StopMove ends the move of slots under way within ten seconds: slots that are open are completed first, at any rate. Slots
// that stay open are left to the next plan, and so is a job of the servers once it has ended.
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

// errBackground reports that a step cannot be carried out by Apply.
var errBackground = errors.New("slots are moved in the background: see Prober.Take")

// Apply returns an error: the prober carries out the step in the background.
func (s MoveSlots) Apply(context.Context, server.Store) error { return errBackground }

// Apply returns an error: the prober carries out the step in the background.
func (s StopMove) Apply(context.Context, server.Store) error { return errBackground }
