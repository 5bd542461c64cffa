// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kit has what all kinds share: the reconcile loop, and the manager that runs it. It names no kind. What only
// one kind needs is in the package of that kind.
//
// # One reconcile
//
// A kind implements [Kind]: three types and four functions. O is its object, F the facts that it reads, and D the
// decision that follows from them.
//
//	Observe  reads into one struct of facts. It decides nothing. If a read fails that only
//	         explains something, the fact is "unknown". Any other failed read stops the
//	         reconcile and makes Ready Unknown.
//	Decide   is pure, and is called once per reconcile. All that follows depends on its result.
//	Plan     is pure. It returns what is to be done, as a [Plan].
//	Report   is pure. It fills the status, also after an error.
//
// Between Plan and Report the loop acts. Only the loop writes. [Loop].Reconcile (reconcile.go) is a table of contents.
// The loop acts in these steps, in this order (act.go):
//
//  1. put the finalizer on the object (finalizer.go),
//  2. apply the children and delete those that are not declared (kit/ensure),
//  3. patch objects of other owners (patch.go),
//  4. take at most one step outside of the API, such as a call to a store,
//  5. remove a finalizer, and write events,
//  6. make the patches that nothing depends on (independent.go).
//
// Steps 4 and 5 require that the steps before them succeeded. While the user has paused the object, the loop does none
// of this and counts what it would do. The [Outcome] holds what was done; Report fills the status from it.
//
// # Errors
//
// A write that was decided on an older state (a conflict, an object that is gone) is decided again after 200 ms, and
// after a longer time if it fails again. It is not reported. A refusal of the API server (quota, admission, rights)
// becomes the message of a condition, and is retried after 50 ms to one minute (result.go).
//
// # Status
//
// The status is written if it differs, at most every 500 ms for each object, and at most every 3 s if it only reports
// progress (statusgate.go). A status with a record that later steps depend on is written at once (Loop.Records). Every
// change of Ready is an event. Every change of a condition is a line in the log (log.go).
//
// # Memory
//
// What a process remembers about an object, such as the last refusal of a step, is in a [Memory]. Loop.Forget lists
// what is cleared when the object is gone. A new process remembers nothing, so no safety may depend on memory.
//
// # The manager
//
// The [Registration] of a kind is added to the list in cmd/opcrew. [NewManager] serves the kinds whose CRDs opcrew has
// installed. When that changes, the process restarts (crds.go, optional.go). The cache holds what the kinds declare and
// no more ([Ours], [Trim]). [Tools] are what the kinds get: clients, clock, events, metrics.
//
// Package kit/ensure writes children, and package kit/condition sets conditions.
package kit
