// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"time"
)

// Progress is how far a move of slots has come.
type Progress struct {
	// Goal, Shards and BytesPerSecond are those of the step.
	Goal, Shards   int
	BytesPerSecond int64
	// Ends are those of what goes on.
	Ends []End
	// Slots are all that are to be moved, and Moved those that have been.
	Slots, Moved int
	// Keys and Bytes are what has been moved so far, and Estimate is the step's of all bytes.
	Keys, Bytes, Estimate int64
	Began                 time.Time
	// Unequipped says why a primary has got its first slots without function libraries; nil if none has.
	Unequipped error
	// Stopping reports that it was asked to end, and has yet to.
	Stopping bool
	// Ended reports that nothing is moved any more: all has been, or Err says why not.
	Ended   bool
	EndedAt time.Time
	Err     error
	// Failures counts how many in a row have failed before they moved anything, this one included. One that was stopped
	// has not.
	Failures int
}

// Failed reports whether it has ended by itself before all was moved.
func (p Progress) Failed() bool { return p.Err != nil && !errors.Is(p.Err, context.Canceled) }

// failures counts one that has ended, after those before it.
func (p Progress) failures() int {
	switch {
	case !p.Failed():
		return 0
	case p.Moved > 0:
		return 1
	}
	return p.Failures + 1
}

// Percent is how much of the slots has been moved, from 0 to 100.
func (p Progress) Percent() int {
	if p.Slots == 0 {
		return 100
	}
	return 100 * p.Moved / p.Slots
}
