// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kured

import (
	"encoding/json"
	"time"
)

// lock is kured's lock, as its annotation has it.
type lock struct {
	NodeID  string        `json:"nodeID"`
	Created time.Time     `json:"created"`
	TTL     time.Duration `json:"TTL"`
}

// lockedBy returns the nodes that hold kured's lock. With --concurrency, kured writes a list of locks. A lock that
// cannot be read names no node.
func lockedBy(annotation string, now time.Time) []string {
	var value struct {
		lock
		Locks []lock `json:"locks"`
	}
	if err := json.Unmarshal([]byte(annotation), &value); err != nil {
		return nil
	}
	var out []string
	for _, l := range append(value.Locks, value.lock) {
		if l.NodeID != "" && !l.isExpired(now) {
			out = append(out, l.NodeID)
		}
	}
	return out
}

// isExpired reports whether kured ignores the lock by now, because its holder did not release it in time.
func (l lock) isExpired(now time.Time) bool { return l.TTL > 0 && !now.Before(l.Created.Add(l.TTL)) }
