// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"time"
)

// Progress describes the progress of a slot move.
type Progress struct {
	// Goal, Shards and BytesPerSecond are copied from the step.
	Goal, Shards   int
	BytesPerSecond int64
	// Ends are the servers that take part in running moves.
	Ends []End
	// Slots is the number of slots to move. Moved is how many of them have been moved.
	Slots, Moved int
	// Keys and Bytes count what has been moved so far. Estimate is the estimated size of the whole move in bytes.
	Keys, Bytes, Estimate int64
	Began                 time.Time
	// Unequipped explains why a primary got its first slots without function libraries; nil if none did.
	Unequipped error
	// Stopping reports that the move should stop but has not ended yet.
	Stopping bool
	// Ended reports that the move is over. Either all slots have been moved, or Err explains why not.
	Ended   bool
	EndedAt time.Time
	Err     error
	// Failures is how many moves in a row, including this one, have failed without moving any slot. A stop is not a
	// failure.
	Failures int
}

// Failed reports whether the move ended with an error other than a stop.
func (p Progress) Failed() bool { return p.Err != nil && !errors.Is(p.Err, context.Canceled) }

// failures returns the value of Failures after a move has ended.
func (p Progress) failures() int {
	switch {
	case !p.Failed():
		return 0
	case p.Moved > 0:
		return 1
	}
	return p.Failures + 1
}

// Percent returns the percentage of slots that have been moved.
func (p Progress) Percent() int {
	if p.Slots == 0 {
		return 100
	}
	return 100 * p.Moved / p.Slots
}
