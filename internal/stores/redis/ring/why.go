// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Step is one of package redis.
type Step = redis.Step

// Why gives the reasons for a step, or for there being none.
type Why struct {
	// Doing is the purpose of the step, for the user; "" without a step.
	Doing string
	// Refusals are why wanted steps are not taken (yet), the most urgent first. Without a step and without refusals the ring is
	// as desired.
	Refusals []Refusal
}

// Done reports whether the ring is as desired.
func (w Why) Done() bool { return w.Doing == "" && len(w.Refusals) == 0 }

// Refusal is a guard that does not let a step pass.
type Refusal struct {
	Guard Guard
	// Message is for the user: what the step waits for, with numbers.
	Message string
}

// Guard is the name of a rule.
type Guard string

const (
	// Unseen stops everything while the view is stale, or no process could be asked.
	Unseen Guard = "Unseen"
	// Twins stops everything while two processes have the same ID.
	Twins Guard = "Twins"
	// AllThere makes a new cluster wait for all its processes.
	AllThere Guard = "AllThere"
	// Unrelated keeps processes of unrelated clusters apart that claim the same slots: one would drop what it holds.
	Unrelated Guard = "Unrelated"
	// Misled keeps a process from being copied by a replica that would take it for another.
	Misled Guard = "Misled"
	// Acquainted waits until processes have heard of each other.
	Acquainted Guard = "Acquainted"
	// Election waits for the replica of a lost primary to be elected by the others.
	Election Guard = "Election"
	// Fenced waits for a process that may run, or come back: a takeover would make two primaries of one, and data that no other
	// process has would be lost.
	Fenced Guard = "Fenced"
	// Lost reports slots whose primary is lost and that no replica can take over.
	Lost Guard = "Lost"
	// Unowned reports slots that no process claims and that are not those of a new cluster.
	Unowned Guard = "Unowned"
	// Moving waits for a move of slots.
	Moving Guard = "Moving"
	// HoldsKeys refuses to make a process drop keys.
	HoldsKeys Guard = "HoldsKeys"
	// LastReplica refuses to take the only replica in sync from a shard.
	LastReplica Guard = "LastReplica"
	// InSync waits for a replica to have all that its primary has.
	InSync Guard = "InSync"
	// Quorum refuses an election that a majority of the primaries cannot decide.
	Quorum Guard = "Quorum"
	// Agreement waits until all processes agree on who owns which slots.
	Agreement Guard = "Agreement"
	// Silent reports a process that does not answer while it matters what it holds.
	Silent Guard = "Silent"
	// Serving waits for a process that considers the cluster down, and answers no client.
	Serving Guard = "Serving"
	// Memory refuses a move for which there is no room.
	Memory Guard = "Memory"
)

// rule decides on one thing that may have to be done.
type rule func(*input) verdict

// verdict is what one rule finds.
type verdict struct {
	step     Step
	doing    string
	refusals []Refusal
	// halt skips the later rules: what they depend on is not known.
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

// add joins what another rule has found. The first step stays.
func (v *verdict) add(other verdict) {
	if v.step == nil && other.step != nil {
		v.step, v.doing = other.step, other.doing
	}
	v.refusals = append(v.refusals, other.refusals...)
	v.halt = v.halt || other.halt
}
