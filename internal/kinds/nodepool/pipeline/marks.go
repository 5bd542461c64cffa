// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
)

// Marked is what the ledger annotation of a node should record about pipelines.
type Marked struct {
	Marks nodestate.Marks
	// Ended maps the names of NodePools whose pipeline has just ended to a description of the end.
	Ended map[string]string
	// Again is how long to wait before the next decision; 0 means to wait for an event.
	Again time.Duration
}

// Marks returns what the ledger annotation should record about the pipelines of all NodePools on a node.
func Marks(node *corev1.Node, pools []*nodesv1.NodePool, activities []*egov1.Activity, now time.Time) Marked {
	out, held := Marked{Marks: nodestate.Marks{}, Ended: map[string]string{}}, nodestate.LedgerOf(node)
	for _, pool := range pools {
		if pool.Spec.OnJoin == nil && pool.Spec.OnLeave == nil && held.Marks[pool.Name].Phase == "" {
			continue
		}
		in := Input{Pool: pool, Node: node, Mark: held.Marks[pool.Name], Activities: ofPool(activities, pool), Now: now}
		t := next(in, held)
		if t.mark.Phase != "" {
			out.Marks[pool.Name] = t.mark
		}
		if t.ended != "" {
			out.Ended[pool.Name] = t.ended
		}
		out.Again = sooner(out.Again, t.again)
	}
	return out
}

// transition is what becomes of a mark: the new mark, empty for none.
type transition struct {
	mark  nodestate.Mark
	ended string
	again time.Duration
}

// next returns what becomes of the mark of one NodePool.
func next(in Input, held nodestate.Ledger) transition {
	pool := in.Pool
	switch {
	case nodestate.Paused(pool) || nodestate.DryRun(pool) && pool.DeletionTimestamp == nil:
		return transition{mark: in.Mark}
	case pool.DeletionTimestamp == nil && nodestate.Belongs(pool, in.Node, held):
		return in.join(held)
	case held.Mentions(pool.Name):
		return in.leave()
	}
	return transition{}
}

// join returns what becomes of the mark of a NodePool to which the node belongs. A node that was a member before
// spec.onJoin was set has no mark, and does not join again.
func (in Input) join(held nodestate.Ledger) transition {
	known := in.Mark.Phase != "" && in.Mark.Node == in.Node.UID
	member := in.Mark.Phase == "" && (slices.Contains(held.Pools, in.Pool.Name) || held.Recovered() && !nodestate.IsJoining(in.Node))
	switch {
	case known && in.Mark.Phase == nodestate.Joined:
		return transition{mark: in.Mark}
	case in.Pool.Spec.OnJoin == nil || member:
		return transition{}
	case !known || in.leaving() || !in.current():
		return transition{mark: in.fresh(nodestate.Joining)}
	}
	v := Judge(in)
	if v.State == Done {
		in.Mark.Phase = nodestate.Joined
		return transition{mark: in.Mark, ended: v.Message}
	}
	return transition{mark: in.Mark, again: v.Again}
}

// leave returns what becomes of the mark of a NodePool that the node leaves. If the steps change meanwhile, the new
// ones begin, but the time of the pipeline does not.
func (in Input) leave() transition {
	known := in.Mark.Phase == "" || in.Mark.Node == in.Node.UID
	switch {
	case in.Pool.Spec.OnLeave == nil || !known:
		return transition{}
	case !in.leaving():
		return transition{mark: in.fresh(nodestate.Leaving)}
	case !in.current():
		changed := in.fresh(nodestate.Leaving)
		changed.Since, in.Mark = in.Mark.Since, changed
	}
	v := Judge(in)
	if v.State == Done {
		return transition{ended: v.Message}
	}
	return transition{mark: in.Mark, again: v.Again}
}

// fresh returns the mark of a pipeline that begins now.
func (in Input) fresh(phase nodestate.Phase) nodestate.Mark {
	return nodestate.Mark{Phase: phase, Node: in.Node.UID, Hash: hash(Of(in.Pool, phase)), Since: in.Now.UTC().Truncate(time.Second)}
}

// sooner returns the shorter of two waits, where 0 means to wait for an event.
func sooner(a, b time.Duration) time.Duration {
	if a > 0 && (b <= 0 || a < b) {
		return a
	}
	return max(b, 0)
}
