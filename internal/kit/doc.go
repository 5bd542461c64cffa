// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kit contains what all kinds share: the reconcile loop, and the manager that runs it. It does not depend on
// any kind. Code that only one kind needs is in the package of that kind.
//
// # One reconcile
//
// A kind implements [Kind] with three types and four functions. O is the type of its objects, F holds the facts that it
// reads, and D the decision that it makes from them.
//
//	Observe  reads the facts from the cluster. It decides nothing. If a read fails that only
//	         serves to explain a problem, the fact is "unknown". If another read fails, the
//	         reconcile stops, and Ready becomes Unknown.
//	Decide   makes the decision from the facts, once per reconcile. It is a pure function.
//	Plan     returns the changes that carry out the decision, as a [Plan]. It is a pure function.
//	Report   fills the status, also after an error. It is a pure function.
//
// Between Plan and Report, the loop acts; no other code writes to the cluster. [Loop].Reconcile (reconcile.go) shows
// the order of all parts. The loop acts in these steps (act.go):
//
//  1. add the finalizer to the object (finalizer.go),
//  2. apply the declared children, and delete children that are no longer declared (kit/ensure),
//  3. patch objects of other owners (patch.go),
//  4. take at most one step outside the Kubernetes API, such as a call to a database,
//  5. remove the finalizer, and write events,
//  6. apply the patches that nothing else depends on (independent.go).
//
// Steps 4 and 5 require that the earlier steps succeeded. While the user has paused the object, the loop makes no
// changes and counts those that it holds back. The [Outcome] records what was done; Report uses it to fill the status.
//
// # Errors
//
// A write fails with a conflict, or because the object is gone, if it was based on an older state. The loop then
// decides again after 200 ms, and waits longer if that fails too. These failures are not reported. It waits in the same
// way while the cache shows an older version of the object than opcrew's last write. If the API server refuses a write
// (quota, admission, rights), a condition shows its message; the loop retries after 50 ms to one minute (result.go).
//
// # Status
//
// The loop writes the status if it has changed, at most every 500 ms for each object, and at most every 3 s if the
// change only shows progress (statusgate.go). If later steps depend on a record in the status, the loop writes it at
// once (Loop.Records). Every change of Ready creates an event. Every change of a condition is logged (log.go).
//
// # Memory
//
// A [Memory] holds what a process remembers about an object, such as the last refused step. Loop.Forget lists what to
// clear when the object is gone. A new process starts with no memory, so safety must never depend on it.
//
// # The manager
//
// internal/kinds lists the [Registration] of each kind. [NewManager] serves the kinds whose CRDs opcrew has installed. When
// that set changes, the process restarts (crds.go, optional.go). The cache holds only what the kinds declare ([Ours],
// [Trim]). [Tools] gives the kinds their clients, clock, events and metrics.
//
// Package kit/ensure writes children, and package kit/condition sets status conditions.
package kit
