// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Step is a step of package redis.
type Step = redis.Step

// Why gives the reasons for a step, or why there is none.
type Why struct {
	// Doing describes the purpose of the step for the user; "" without a step.
	Doing string
	// Refusals explain why wanted steps are not taken yet, the most urgent first. Without a step and refusals the ring is
	// as desired.
	Refusals []Refusal
}

// Done reports whether the ring is as desired.
func (w Why) Done() bool { return w.Doing == "" && len(w.Refusals) == 0 }

// Refusal is the answer of a guard that does not allow a step.
type Refusal struct {
	Guard Guard
	// Message says what the step waits for, with numbers, for the user.
	Message string
}

// Guard is the name of a condition that a step must meet.
type Guard string

const (
	// Unseen stops everything while the view is stale, or no process could be reached.
	Unseen Guard = "Unseen"
	// Twins stops everything while two processes have the same ID.
	Twins Guard = "Twins"
	// AllThere makes a new cluster wait for all its processes.
	AllThere Guard = "AllThere"
	// Unrelated keeps unrelated clusters that claim the same slots apart: one of them would drop its data.
	Unrelated Guard = "Unrelated"
	// Misled stops a process from being copied by a replica that would mistake it for the replica's primary.
	Misled Guard = "Misled"
	// Acquainted waits until processes have heard of each other.
	Acquainted Guard = "Acquainted"
	// Election waits until the other primaries have elected the replica of a lost primary.
	Election Guard = "Election"
	// Fenced waits for a process that may be running or come back. A takeover would then make a second primary, and data
	// that only that process has would be lost.
	Fenced Guard = "Fenced"
	// Lost reports slots whose primary is lost and that no replica can serve instead.
	Lost Guard = "Lost"
	// Unowned reports slots that no process claims, in a cluster that is not new.
	Unowned Guard = "Unowned"
	// Moving waits until a move of slots has ended.
	Moving Guard = "Moving"
	// HoldsKeys refuses to make a process drop keys.
	HoldsKeys Guard = "HoldsKeys"
	// LastReplica refuses to take the only replica in sync from a shard.
	LastReplica Guard = "LastReplica"
	// InSync waits until a replica has all of its primary's data.
	InSync Guard = "InSync"
	// Quorum refuses an election while too few primaries can vote.
	Quorum Guard = "Quorum"
	// Agreement waits until all processes agree on who owns which slots.
	Agreement Guard = "Agreement"
	// Silent reports a process that does not answer while its data or slots matter for the next step.
	Silent Guard = "Silent"
	// Serving waits for a process that considers the cluster down, and refuses clients.
	Serving Guard = "Serving"
	// Memory refuses a move to a process with too little free memory.
	Memory Guard = "Memory"
)

// rule decides on one subject.
type rule func(*input) verdict

// verdict holds what one rule has found.
type verdict struct {
	step     Step
	doing    string
	refusals []Refusal
	// halt skips the later rules, because they depend on something that is not known.
	halt bool
}

func take(step Step, doing string, args ...any) verdict {
	return verdict{step: step, doing: fmt.Sprintf(doing, args...)}
}

func refuse(guard Guard, message string, args ...any) verdict {
	return verdict{refusals: []Refusal{{guard, fmt.Sprintf(message, args...)}}}
}

func halt(guard Guard, message string, args ...any) verdict {
	v := refuse(guard, message, args...)
	v.halt = true
	return v
}

// add adds what another rule has found. The first step is kept.
func (v *verdict) add(other verdict) {
	if v.step == nil && other.step != nil {
		v.step, v.doing = other.step, other.doing
	}
	v.refusals = append(v.refusals, other.refusals...)
	v.halt = v.halt || other.halt
}
