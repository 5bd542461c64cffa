// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// history is how many Activities of pipelines that have ended are kept for each NodePool.
const history = 64

// Run is a pipeline on a node that joins or leaves.
type Run struct {
	Input
	Verdict Verdict
}

// Runs returns the pipelines of a NodePool on these nodes, in the order of the nodes.
func Runs(pool *nodesv1.NodePool, nodes []*corev1.Node, activities []*egov1.Activity, now time.Time) []Run {
	var out []Run
	byNode := map[string][]*egov1.Activity{}
	for _, a := range ofPool(activities, pool) {
		byNode[a.Spec.Host] = append(byNode[a.Spec.Host], a)
	}
	for _, node := range nodes {
		mark := nodestate.LedgerOf(node).Marks[pool.Name]
		if mark.Phase != nodestate.Joining && mark.Phase != nodestate.Leaving {
			continue
		}
		in := Input{Pool: pool, Node: node, Mark: mark, Activities: byNode[node.Name], Now: now}
		out = append(out, Run{in, Judge(in)})
	}
	return out
}

// Starts reports whether a step of a pipeline should start.
func Starts(runs []Run) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return r.Verdict.Starts })
}

// Children declares the Activities of the steps that start. An Activity is never changed, and has no owner reference,
// because the garbage collector would delete it while a deleted NodePool still waits for it.
func Children(runs []Run) []ensure.Child {
	var out []ensure.Child
	for _, r := range runs {
		if r.Verdict.Starts {
			out = append(out, ensure.Child{Object: declare(r.Input, r.Verdict), Once: true, Retain: true})
		}
	}
	return out
}

// Cancels returns the patches that cancel Activities that have not ended and belong to no current pipeline, or to one
// that has timed out.
func Cancels(runs []Run, activities []*egov1.Activity) []kit.Patch {
	live := map[string]bool{}
	for _, r := range runs {
		live[r.run()] = r.current() && !r.Verdict.Cancels
	}
	var out []kit.Patch
	for _, a := range activities {
		if !over(a) && !a.Spec.Cancel && a.DeletionTimestamp == nil && !live[a.Labels[RunLabel]] {
			out = append(out, kit.Patch{Object: a.DeepCopy(), Type: types.MergePatchType, Data: []byte(`{"spec":{"cancel":true}}`), Intent: "cancel"})
		}
	}
	return out
}

// Stays returns a function that reports whether an Activity is kept: it has not ended, belongs to a current pipeline, or
// is one of the newest.
func Stays(runs []Run, activities []*egov1.Activity) func(client.Object) bool {
	live, keep := map[string]bool{}, map[types.UID]bool{}
	for _, r := range runs {
		live[r.run()] = true
	}
	ended := filter(activities, func(a *egov1.Activity) bool {
		keep[a.UID] = !over(a) || live[a.Labels[RunLabel]]
		return !keep[a.UID]
	})
	slices.SortFunc(ended, byAge)
	for _, a := range ended[max(0, len(ended)-history):] {
		keep[a.UID] = true
	}
	return func(object client.Object) bool { return keep[object.GetUID()] }
}

// Surplus reports whether an Activity is not kept.
func Surplus(activities []*egov1.Activity, stays func(client.Object) bool) bool {
	return slices.ContainsFunc(activities, func(a *egov1.Activity) bool { return !stays(a) && a.DeletionTimestamp == nil })
}
