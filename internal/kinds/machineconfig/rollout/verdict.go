// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import "fmt"

// Action is a step of one node.
type Action string

// Values of Action.
const (
	// Order makes the node change to Verdict.Config.
	Order Action = "Order"
	// CordonNode makes the node unschedulable, and records that opcrew did it.
	CordonNode Action = "Cordon"
	// Evict evicts pods of the node, as package drain plans.
	Evict Action = "Evict"
	// ConfirmDrain reports to the machine agent that the node is drained.
	ConfirmDrain Action = "ConfirmDrain"
	// Uncordon makes the node schedulable, and reports that to the machine agent.
	Uncordon Action = "Uncordon"
	// ConfirmUncordon reports to the machine agent that the operator has seen the end of the update. The node stays
	// cordoned, because a user or another tool cordoned it.
	ConfirmUncordon Action = "ConfirmUncordon"
)

// Verdict is what a rule decides about a node. The zero Verdict leaves the decision to the next rule.
type Verdict struct {
	// Action is the next step; empty if the node must wait or needs nothing.
	Action Action
	// Config is the configuration of an Order. Skip is set if the machine agent need not ask for a drain.
	Config string
	Skip   bool
	// Reason and Message say what the node waits for. Reason is a condition reason of a MachineConfigPool.
	Reason, Message string
	// Rest is set if the node needs no step.
	Rest bool
}

// Rule decides about one node.
type Rule func(*Input) Verdict

func step(action Action) Verdict { return Verdict{Action: action} }

func wait(reason, message string, args ...any) Verdict {
	return Verdict{Reason: reason, Message: fmt.Sprintf(message, args...)}
}

func rest() Verdict { return Verdict{Rest: true} }

func order(config string) Verdict { return Verdict{Action: Order, Config: config} }

// Decision is what to do now.
type Decision struct {
	// Nodes are the verdicts, in the order of urgency. Nodes without a step and without a reason to wait are left out.
	Nodes []NodeVerdict
	// RollBacks are the pools whose update must be stopped and reverted. The caller records them in the pool's status;
	// orders follow from the record.
	RollBacks []RollBack
}

// NodeVerdict is the verdict about a node.
type NodeVerdict struct {
	Node string
	// Pool configures the node; empty if several claim it.
	Pool string
	Verdict
}
