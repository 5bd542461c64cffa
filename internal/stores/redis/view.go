// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "time"

// View holds what one read of a cluster has shown.
type View struct {
	// At is when the read began. Everything in the view was read later.
	At time.Time
	// Err says why no process could be reached. Then no process has a status.
	Err error
	// Nodes holds the status of each process of the target, by address.
	Nodes map[string]NodeStatus
	// Stale reports that a step has been taken since the read. The next read, which starts at once, shows its effect.
	Stale bool
	// Passing holds slots that changed hands during the read: the answering processes name each other as the owner, and
	// none claims the slots. The next read shows their owners.
	Passing Slots
	// Move is the progress of the running or the latest move of slots; nil if there was none since the prober started.
	Move *Progress
}

// Moving reports whether slots are being moved.
func (v View) Moving() bool { return v.Move != nil && !v.Move.Ended }
