// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import "time"

// Action is what was done about one child.
type Action string

// What can be done about a child. Held is what would have been done while nothing may be changed. Waiting,
// Taken, Contested, Delayed and Denied are why nothing was done: the cache is stale or the child is being deleted,
// another owner has the name, another manager undoes the changes, the child was created too often, or a guard
// objects to its pod.
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

// Result is what became of one child.
type Result struct {
	Ref    Ref
	Action Action
	// Reason is the reason for conditions, of a child that a guard denied.
	Reason string
	// Message says, where nothing was done because of an obstacle, what the obstacle is and what happens next.
	Message string
	// Again is when to look again; 0: when an event comes.
	Again time.Duration
	// Err is the answer of the API server, if it did not take the write.
	Err error
}
