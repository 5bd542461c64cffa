// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestMovesThatFailBeforeTheyMoveAnythingAreCounted(t *testing.T) {
	broken := errors.New("no route to host")
	m := &Moves{}
	for i, move := range []struct {
		moved int
		err   error
		want  int
	}{
		{err: broken, want: 1},
		{err: broken, want: 2},
		{moved: 7, err: broken, want: 1}, // this move moved some slots, so failures count from 1 again
		{err: fmt.Errorf("stopped: %w", context.Canceled), want: 0},
		{err: broken, want: 1},
		{moved: 7, want: 0},
	} {
		m.begin(Progress{Slots: 10}, func() {})
		m.note(func(p *Progress) { p.Moved = move.moved })
		m.end(time.Time{}, move.err)
		if got := m.Progress().Failures; got != move.want {
			t.Errorf("expected %d failures to be counted after move %d, got %d", move.want, i, got)
		}
	}
}
