// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Loop reconciles the objects of one kind: observe, decide, plan, act, report. The loop is the same for all kinds; Kind
// contains the code of one kind.
type Loop[O client.Object, F, D any] struct {
	*Tools
	// New returns an empty object of the kind.
	New func() O
	// Kind contains the code for this kind of objects.
	Kind Kind[O, F, D]
	// After, if set, is called after a plan was carried out, for example to update metrics of the kind.
	After func(O, F, D, Outcome)
	// Transitions, if set, returns events for a change of the status, in addition to the events for Ready. It is a pure
	// function.
	Transitions func(before, after O) []Event
	// Records, if set, reports whether the status contains an unwritten record that later steps depend on. The loop
	// writes such a status at once. It is a pure function.
	Records func(before, after O) bool
	// Finish, if set, copies Ready to other fields of the status. The loop calls it last, because the loop itself may
	// change Ready after a pause, a deletion or a failed read. It is a pure function.
	Finish func(O)
	// Overridden, if set, returns which settings of the spec the operator overrides, as reason and message of condition
	// FieldsIgnored. The message is "" if the operator overrides no setting. Overridden is a pure function.
	Overridden func(O, F) (reason, message string)
	// Forget lists functions that delete what the kind remembers about an object that no longer exists: one function
	// for each Memory, prober and gauge of the kind.
	Forget []func(client.ObjectKey)

	status      statusGate
	retries     retries
	refusals    Memory[client.ObjectKey, refusal]
	stepsLogged Memory[client.ObjectKey, string]
}

// Options returns the options of the controller that runs the loop. The backoff of an object grows from 50 ms to one
// minute, so opcrew notices within a minute that the API server no longer refuses a write.
func (l *Loop[O, F, D]) Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, time.Minute),
	}
}
