// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "time"

// View is the result of one read of all servers of a cluster.
type View struct {
	// At is when the read started. Everything in the view was read later.
	At time.Time
	// Err explains why no server could be reached. Then no server has a status.
	Err error
	// Nodes holds the status of each server of the cluster, by address.
	Nodes map[string]NodeStatus
	// Stale reports that a step was executed after the read. The next read starts at once, and shows the effect of the
	// step.
	Stale bool
	// Passing holds slots whose owner changed during the read: the answering servers name each other as the owner, and
	// none claims the slots. The next read shows their owners.
	Passing Slots
	// Move is the progress of the running or latest slot move; nil if there was none since the prober started.
	Move *Progress
}

// Moving reports whether slots are being moved.
func (v View) Moving() bool { return v.Move != nil && !v.Move.Ended }
