// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "time"

// View is what one reading of a cluster has shown.
type View struct {
	// At is when the look began: nothing in it is older.
	At time.Time
	// Err is why no process could be asked. No process has a status then.
	Err error
	// Nodes is the status of each process of the target, by its address.
	Nodes map[string]NodeStatus
	// Stale reports that a step has been taken since: the next look, which starts at once, shows its effect.
	Stale bool
	// Passing are slots that changed hands during the look: the processes that answer name each other as their owners, and none
	// claims them. The next look shows their owners.
	Passing Slots
	// Move is the progress of the move of slots under way, or of the last one; nil if there was none since the prober started.
	Move *Progress
}

// Moving reports whether slots are being moved.
func (v View) Moving() bool { return v.Move != nil && !v.Move.Ended }
