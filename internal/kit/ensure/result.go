// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import "time"

// Action is what Ensure or Prune did with one child.
type Action string

// Held means that a change was held back during a pause. The last five actions explain why nothing was done: the cache
// is stale or the child is being deleted (Waiting), another owner has the name (Taken), another manager undoes changes
// (Contested), the child was created too often (Delayed), or a guard refuses its pod (Denied).
const (
	Unchanged Action = "Unchanged"
	Created   Action = "Created"
	Applied   Action = "Applied"
	Repaired  Action = "Repaired"
	Replaced  Action = "Replaced"
	Pruned    Action = "Pruned"
	Held      Action = "Held"
	Waiting   Action = "Waiting"
	Taken     Action = "Taken"
	Contested Action = "Contested"
	Delayed   Action = "Delayed"
	Denied    Action = "Denied"
)

// Result describes what Ensure or Prune did with one child.
type Result struct {
	Ref    Ref
	Action Action
	// Reason is the condition reason if a guard refused the pod of the child.
	Reason string
	// Message describes the problem and what happens next, if a problem prevented the change.
	Message string
	// Again is how long to wait before the next check; with 0, opcrew checks again at the next event.
	Again time.Duration
	// Err is the error of the API server if the write failed.
	Err error
}
