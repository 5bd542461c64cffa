// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

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
	// Ends are the ends of the running moves.
	Ends []End
	// Slots is the number of slots to move, and Moved the number that has been moved.
	Slots, Moved int
	// Keys and Bytes have been moved so far, and Estimate is the estimate of all bytes.
	Keys, Bytes, Estimate int64
	Began                 time.Time
	// Unequipped is why a primary got its first slots without function libraries; nil if none did.
	Unequipped error
	// Stopping reports that the move was stopped and has yet to end.
	Stopping bool
	// Ended reports that the move is over: all slots have been moved, or Err is why not.
	Ended   bool
	EndedAt time.Time
	Err     error
	// Failures counts the last moves in a row that failed before they moved a slot, including this one. A stop is not a failure.
	Failures int
}

// Failed reports whether the move ended with an error other than a stop.
func (p Progress) Failed() bool { return p.Err != nil && !errors.Is(p.Err, context.Canceled) }

// failures is the count after a move that has ended.
func (p Progress) failures() int {
	switch {
	case !p.Failed():
		return 0
	case p.Moved > 0:
		return 1
	}
	return p.Failures + 1
}

// Percent is the percentage of slots that has been moved.
func (p Progress) Percent() int {
	if p.Slots == 0 {
		return 100
	}
	return 100 * p.Moved / p.Slots
}
