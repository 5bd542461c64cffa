// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is what one kind supplies for its objects O: the facts F that it reads about an object, and the decision D that
// follows from them. It does not write: the loop does.
type Kind[O client.Object, F, D any] interface {
	// Observe reads into one struct of facts, and decides nothing.
	Observe(ctx context.Context, object O) (F, error)
	// Decide is pure. The loop calls it once per reconcile. Plan and Report depend on its result.
	Decide(object O, facts F, now time.Time) D
	// Plan is pure. It returns the children, the patches and the step that carry out the decision.
	Plan(object O, facts F, decision D) Plan
	// Report is pure. It fills the status of the object, also after an error. It never reads the text of an earlier
	// message. It does nothing for an object whose status opcrew does not write.
	Report(object O, facts F, decision D, done Outcome)
}

// hasConditions is an object whose status has conditions and an observed generation.
type hasConditions interface {
	client.Object
	StatusConditions() *[]metav1.Condition
	StatusObservedGeneration() *int64
}

// readyType is the type of the condition that sums up the others.
const readyType = "Ready"
