// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ensure writes declared children, and deletes those that are no longer declared. It is the only code
// that writes children: by server-side apply under one field manager, only if something differs, and never
// over an object of another owner.
//
// Ensure reads in this order: declare completes the declaration (intent.go), find looks for the child
// (find.go), and then it is created (create.go), left alone, applied (update.go) or replaced (replace.go).
// Prune (prune.go) deletes. drift.go compares a live object with its declaration, by the schema of the API
// server.
//
// An Applier remembers three things: opcrew's own writes that the cache does not show yet (writes.go),
// contests with other managers (contest.go), and objects that were deleted to be replaced (predecessors.go).
//
// Which children a kind has is decided in the package of the kind. docs/design/children.md gives the reasons.
package ensure
