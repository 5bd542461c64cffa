// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is the part of a reconcile that is specific to objects of type O. Observe reads the facts F about an object, and
// Decide makes the decision D from the facts. A Kind does not write to the cluster; the loop does.
type Kind[O client.Object, F, D any] interface {
	// Observe reads the facts about an object, and decides nothing.
	Observe(ctx context.Context, object O) (F, error)
	// Decide makes the decision from the facts. It is a pure function, and the loop calls it once per reconcile.
	Decide(object O, facts F, now time.Time) D
	// Plan returns the children, patches and step that carry out the decision. It is a pure function.
	Plan(object O, facts F, decision D) Plan
	// Report fills the status of the object, also after an error. It is a pure function, and never parses earlier
	// messages. For an object whose status opcrew does not write, it does nothing.
	Report(object O, facts F, decision D, done Outcome)
}

// hasConditions is an object with status conditions and an observed generation.
type hasConditions interface {
	client.Object
	StatusConditions() *[]metav1.Condition
	StatusObservedGeneration() *int64
}

// readyType is the type of the condition that summarizes the other conditions.
const readyType = "Ready"
