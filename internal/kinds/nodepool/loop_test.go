// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// planAt returns the plan for a NodePool at the given time.
func planAt(pool *nodesv1.NodePool, f facts, now time.Time) kit.Plan {
	r := &poolReconciler{}
	return r.Plan(pool, f, r.Decide(pool, f, now))
}

// reportAt fills in the status for the given facts and outcome at the given time.
func reportAt(object *nodesv1.NodePool, f facts, done kit.Outcome, now time.Time) {
	r := &poolReconciler{}
	done.Now = now
	r.Report(object, f, r.Decide(object, f, now), done)
}

// planNodeAt returns the plan for a node at the given time.
func planNodeAt(node *corev1.Node, f nodeFacts, now time.Time) kit.Plan {
	r := &nodeReconciler{}
	return r.Plan(node, f, r.Decide(node, f, now))
}
