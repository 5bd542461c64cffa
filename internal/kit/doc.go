// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kit is what all kinds share: the reconcile loop, and the manager that runs it. No kind is named here,
// and what only one kind needs is in the package of that kind.
//
// # One reconcile
//
// A kind implements [Kind]: three types and four functions. O is its object, F the facts that it reads, and D
// the decision that follows from them.
//
//	Observe  reads into one struct of facts. It decides nothing. A failed read that only explains
//	         something is a fact, "unknown"; any other stops the reconcile and makes Ready Unknown.
//	Decide   is pure, and is called once per reconcile. All that follows comes from its result.
//	Plan     is pure. It returns what is to be done, as a [Plan].
//	Report   is pure. It fills the status, also after an error.
//
// Between Plan and Report the loop acts: it is the only writer. [Loop].Reconcile (reconcile.go) is the table of
// contents. These are the steps of Act, in their order (act.go):
//
//  1. put the finalizer on the object (finalizer.go),
//  2. apply the children and delete those that are not declared (kit/ensure),
//  3. patch objects of other owners (patch.go),
//  4. take at most one step outside of the API, such as a call to a store,
//  5. remove a finalizer, and write events,
//  6. make the patches that nothing depends on (independent.go).
//
// Steps 4 and 5 need the success of the steps before them. While the user has paused the object, all of this is
// counted and not done. What became of the plan is the [Outcome], from which Report fills the status.
//
// # Errors
//
// A write that was decided on an older state (a conflict, an object that is gone) is decided again within
// 200 ms, and longer if that continues. It is not reported. A refusal of the API server (quota, admission, rights)
// becomes the message of a condition, and is retried after 50 ms to one minute (result.go).
//
// # Status
//
// The status is written if it differs, at most every 500 ms for each object; progress every 3 s (statusgate.go).
// A status with a record that later steps depend on is written at once (Loop.Records). Every change of Ready is
// an event. Every change of a condition is a line in the log (log.go).
//
// # Memory
//
// What a process remembers of an object, such as the last refusal of a step, is in a [Memory]. Loop.Forget lists
// what is cleared when the object is gone. A new process remembers nothing: no safety may depend on memory.
//
// # The manager
//
// A kind is added to the list in cmd/opcrew by its [Registration]. [NewManager] serves the kinds whose CRDs are
// installed by opcrew; when that changes, the process restarts (crds.go, optional.go). The cache holds what the
// kinds declare and no more ([Ours], [Trim]). [Tools] are what the kinds get: clients, clock, events, metrics.
//
// How children are written is in kit/ensure, how conditions are set in kit/condition.
package kit
