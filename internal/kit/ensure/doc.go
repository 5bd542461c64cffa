// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ensure writes declared children, and deletes children that are no longer declared. No other code writes
// children. It writes by server-side apply under one field manager, only if something differs, and never over another
// owner's object.
//
// Ensure works in this order: declare completes the declaration (intent.go), and find searches for the child (find.go).
// Then the child is created (create.go), left alone, applied (update.go) or replaced (replace.go). Prune (prune.go)
// deletes. drift.go compares a live object with its declaration, by the schema of the API server.
//
// An Applier remembers three things: opcrew's own writes that the cache does not show yet (writes.go), contests with
// other managers (contest.go), and objects that were deleted to be replaced (predecessors.go).
//
// The package of a kind decides which children the kind has. docs/design/children.md gives the reasons.
package ensure
