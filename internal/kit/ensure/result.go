// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import "time"

// Action says what was done about one child.
type Action string

// Held means that a change was held back because nothing may be changed. The last five say why nothing was done: the
// cache is stale or the child is being deleted (Waiting), another owner has the name (Taken), another manager undoes
// changes (Contested), the child was created too often (Delayed), or a guard objects to its pod (Denied).
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

// Result describes what was done about one child.
type Result struct {
	Ref    Ref
	Action Action
	// Reason is the condition reason of a child that a guard denied.
	Reason string
	// Message says what is in the way and what happens next, if nothing was done because of an obstacle.
	Message string
	// Again is how long to wait before looking again; with 0 the next event starts it.
	Again time.Duration
	// Err is the answer of the API server, if it did not accept the write.
	Err error
}
