// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ensure creates and updates declared child objects, and deletes those that are no longer declared. No other
// code writes children. Package ensure uses server-side apply with one field manager. It writes only if something
// differs, and never overwrites an object of another owner.
//
// Ensure first completes the declaration of the child (intent.go), and searches for the live child (find.go). Then it
// creates (create.go), applies (update.go) or replaces (replace.go) the child, or leaves it unchanged. Prune deletes
// children (prune.go). drift.go compares a live object with its declaration, by the schema of the API server.
//
// An Applier remembers three things: its own writes that the cache does not show yet (writes.go), contests with other
// managers (contest.go), and objects that it deleted in order to replace them (predecessors.go).
//
// The package of each kind decides which children an object has. docs/design/children.md explains the design.
package ensure
