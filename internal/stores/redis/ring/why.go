// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Step is a change of the cluster: see package redis.
type Step = redis.Step

// Why explains a step, or why there is none.
type Why struct {
	// Doing describes the purpose of the step for the user; "" without a step.
	Doing string
	// Refusals explain why other steps must wait, the most urgent first. Without a step and refusals, the cluster is as
	// desired.
	Refusals []Refusal
}

// Done reports whether the cluster is as desired.
func (w Why) Done() bool { return w.Doing == "" && len(w.Refusals) == 0 }

// Refusal is the answer of a guard that does not allow a step.
type Refusal struct {
	Guard Guard
	// Message says, for the user, what the step waits for.
	Message string
}

// Guard is the name of a condition that must be met before a step.
type Guard string

const (
	// Unseen allows no step while the view is outdated, or while no server could be reached.
	Unseen Guard = "Unseen"
	// Twins allows no step while two servers have the same ID.
	Twins Guard = "Twins"
	// AllThere makes a new cluster wait for all its servers.
	AllThere Guard = "AllThere"
	// Unrelated keeps apart two clusters that claim the same slots. If they met, one of them would drop its data.
	Unrelated Guard = "Unrelated"
	// Misled prevents replicas from copying a server that they would mistake for their own primary.
	Misled Guard = "Misled"
	// Acquainted waits until servers know each other.
	Acquainted Guard = "Acquainted"
	// Election waits until the other primaries have elected a replica of a lost primary.
	Election Guard = "Election"
	// Fenced waits until a silent server answers or is certainly gone. If another server took over before, there could
	// be two primaries, and data that only the silent server has could be lost.
	Fenced Guard = "Fenced"
	// Lost reports slots whose primary is lost and that no replica can serve instead.
	Lost Guard = "Lost"
	// Unowned reports slots that no server claims, in a cluster that is not new.
	Unowned Guard = "Unowned"
	// Moving waits until the current move of slots has ended.
	Moving Guard = "Moving"
	// HoldsKeys refuses to make a server drop keys.
	HoldsKeys Guard = "HoldsKeys"
	// LastReplica refuses to take the only replica in sync away from a shard.
	LastReplica Guard = "LastReplica"
	// InSync waits until a replica has all data of its primary.
	InSync Guard = "InSync"
	// Quorum refuses an election while too few primaries can vote.
	Quorum Guard = "Quorum"
	// Agreement waits until all servers agree on the owners of all slots.
	Agreement Guard = "Agreement"
	// Silent reports a server that does not answer while the next step depends on its data or slots.
	Silent Guard = "Silent"
	// Serving waits until a server considers the cluster up. Until then, that server refuses clients.
	Serving Guard = "Serving"
	// Memory refuses a move of slots to a server with too little free memory.
	Memory Guard = "Memory"
)

// rule decides about one kind of step.
type rule func(*input) verdict

// verdict is the result of one rule: a step, or the reasons to wait.
type verdict struct {
	step     Step
	doing    string
	refusals []Refusal
	// halt skips the later rules, because they depend on something that is not known yet.
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

// add adds the result of another rule. The first step is kept.
func (v *verdict) add(other verdict) {
	if v.step == nil && other.step != nil {
		v.step, v.doing = other.step, other.doing
	}
	v.refusals = append(v.refusals, other.refusals...)
	v.halt = v.halt || other.halt
}
