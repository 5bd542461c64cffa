// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Phase is the state of a node in a NodePool with pipelines.
type Phase string

// Values of Phase. A node without a mark is a member of its NodePools, and no pipeline has run there.
const (
	Joining Phase = "Joining"
	Joined  Phase = "Joined"
	Leaving Phase = "Leaving"
)

// Mark records in the ledger annotation that a pipeline of a NodePool runs on the node, or has run when it joined.
type Mark struct {
	Phase Phase `json:"phase"`
	// Node is the UID of the node. A node that registers again under the same name has another UID and joins again.
	Node types.UID `json:"node"`
	// Hash identifies the steps of the pipeline.
	Hash string `json:"hash"`
	// Since is when the pipeline began. Together with the other fields it identifies one execution of the pipeline.
	Since time.Time `json:"since"`
}

// Marks maps the names of NodePools to their marks on a node.
type Marks map[string]Mark

// joiningItem is the taint of a node while it joins a NodePool.
var joiningItem = taintItem(nodesv1.JoiningTaint, corev1.TaintEffectNoSchedule)

// joining reports whether the node joins a NodePool.
func (m Marks) joining() bool {
	for _, mark := range m {
		if mark.Phase == Joining {
			return true
		}
	}
	return false
}

// IsJoining reports whether a node carries the taint of nodes that join a NodePool.
func IsJoining(node *corev1.Node) bool {
	_, there := valueOn(node, joiningItem)
	return there
}

// Leaves reports whether a node leaves a NodePool, and has its settings until a pipeline has ended.
func (d Desired) Leaves(pool string) bool { return d.Marks[pool].Phase == Leaving }

// Recovered reports whether the ledger annotation was lost, and settings of unknown pools were found on the node.
func (l Ledger) Recovered() bool { return l.recovered() }

// recorded returns the desired state without marks of NodePools that do not count as members yet. Their nodes keep the
// taint if they have it, so that a node is not open for a moment.
func (d Desired) recorded() Desired {
	out := d
	out.Marks = maps.Clone(d.Marks)
	maps.DeleteFunc(out.Marks, func(pool string, _ Mark) bool { return !slices.Contains(out.Pools, pool) })
	return out
}

// joiningChange returns the change of the taint of a node that joins a NodePool or no longer does.
func joiningChange(node *corev1.Node, d Desired) []Change {
	there := IsJoining(node)
	switch {
	case !there && d.Marks.joining():
		return []Change{{Item: joiningItem, Wanted: true}}
	case there && !d.Marks.joining() && !d.joins:
		return []Change{{Item: joiningItem, was: true}}
	}
	return nil
}
