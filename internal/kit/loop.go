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

// Loop reconciles the objects of one kind: observe, decide, plan, act, report. It is the same for every kind. Kind has
// the code that is specific to one.
type Loop[O client.Object, F, D any] struct {
	*Tools
	// New returns an empty object.
	New func() O
	// Kind has the code that is specific to this kind of object.
	Kind Kind[O, F, D]
	// After, if set, is called when a plan has been carried out, such as to update metrics of the kind.
	After func(O, F, Outcome)
	// Transitions, if set, returns the events for a change of the status, in addition to those of Ready. It is pure.
	Transitions func(before, after O) []Event
	// Records, if set, reports whether the status holds a record that later steps depend on and that has not been written
	// yet. Such a status is written at once. It is pure.
	Records func(before, after O) bool
	// Finish, if set, copies parts of Ready to other fields of the status. It is called last, because the loop itself may
	// change Ready: for a pause, a deletion, or facts that could not be read. It is pure.
	Finish func(O)
	// Overridden, if set, returns what the operator overrides in a spec, for condition FieldsIgnored: a reason and a
	// message. The message is "" if nothing is overridden. It is pure.
	Overridden func(O, F) (reason, message string)
	// Forget clears what the kind remembers about an object that is gone: each Memory, prober and gauge of the kind.
	Forget []func(client.ObjectKey)

	status      statusGate
	retries     retries
	refusals    Memory[client.ObjectKey, refusal]
	stepsLogged Memory[client.ObjectKey, string]
}

// Options returns the options of the controller that runs the loop. The backoff is 50 ms to one minute per object, so
// that the end of a refusal is noticed within a minute.
func (l *Loop[O, F, D]) Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, time.Minute),
	}
}
