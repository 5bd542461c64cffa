// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pipeline decides which command runs next on a node that joins or leaves a NodePool. Each step of a pipeline
// is an Activity. The ledger annotation of the node records that a pipeline runs (nodestate.Mark); everything else
// follows from the Activities, so an operator that restarts decides the same. The package has no side effects.
package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
)

// Input is what decides about the pipeline of one NodePool on one node.
type Input struct {
	Pool *nodesv1.NodePool
	Node *corev1.Node
	Mark nodestate.Mark
	// Activities are those of the NodePool on the node, also of earlier pipelines.
	Activities []*egov1.Activity
	Now        time.Time
}

// Of returns the pipeline of a NodePool for a phase; nil if there is none.
func Of(pool *nodesv1.NodePool, phase nodestate.Phase) *nodesv1.Pipeline {
	switch phase {
	case nodestate.Joining:
		return pool.Spec.OnJoin
	case nodestate.Leaving:
		return pool.Spec.OnLeave
	}
	return nil
}

// hash identifies the steps of a pipeline. The timeout and the failure policy are not part of it, because a change of
// them need not repeat steps.
func hash(p *nodesv1.Pipeline) string {
	raw, err := json.Marshal(p.Steps)
	if err != nil {
		panic(err) // cannot happen with strings and numbers
	}
	return short(raw)
}

func short(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:5])
}

// run identifies one execution of a pipeline on a node.
func (in Input) run() string {
	return short(fmt.Appendf(nil, "%s %s %s %s %d", in.Pool.UID, in.Node.UID, in.Mark.Phase, in.Mark.Hash, in.Mark.Since.Unix()))
}

// current reports whether the mark belongs to this node and to the present steps of the pipeline.
func (in Input) current() bool {
	p := Of(in.Pool, in.Mark.Phase)
	return p != nil && in.Mark.Node == in.Node.UID && in.Mark.Hash == hash(p)
}

func (in Input) deadline() time.Time {
	p := Of(in.Pool, in.Mark.Phase)
	return in.Mark.Since.Add(time.Duration(ptr.Deref(p.TimeoutSeconds, nodesv1.DefaultPipelineTimeout)) * time.Second)
}

// blocks reports whether a failed step ends the pipeline.
func (in Input) blocks() bool {
	p, policy := Of(in.Pool, in.Mark.Phase), nodesv1.DefaultJoinPolicy
	if in.leaving() {
		policy = nodesv1.DefaultLeavePolicy
	}
	if p.FailurePolicy != "" {
		policy = p.FailurePolicy
	}
	return policy == nodesv1.FailurePolicyBlock
}

func (in Input) leaving() bool { return in.Mark.Phase == nodestate.Leaving }

// ends lists the states in which an Activity has ended.
var ends = []egov1.State{
	egov1.StateSucceeded, egov1.StateFailed, egov1.StateCancelled, egov1.StateTimedOut,
	egov1.StateUnreachable, egov1.StateUnknown, egov1.StateRefused,
}

func over(a *egov1.Activity) bool { return slices.Contains(ends, a.Status.Prosta) }
