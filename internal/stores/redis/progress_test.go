// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestMovesThatFailBeforeTheyMoveAnythingAreCounted(t *testing.T) {
	broken := errors.New("no route to host")
	m := &moves{}
	for i, move := range []struct {
		moved int
		err   error
		want  int
	}{
		{err: broken, want: 1},
		{err: broken, want: 2},
		{moved: 7, err: broken, want: 1}, // what it failed by is none of what those before it failed by
		{err: fmt.Errorf("stopped: %w", context.Canceled), want: 0},
		{err: broken, want: 1},
		{moved: 7, want: 0},
	} {
		m.start(Progress{Slots: 10}, func() {})
		m.note(func(p *Progress) { p.Moved = move.moved })
		m.end(time.Time{}, move.err)
		if got := m.progress().Failures; got != move.want {
			t.Errorf("expected %d failures to be counted after move %d, got %d", move.want, i, got)
		}
	}
}
