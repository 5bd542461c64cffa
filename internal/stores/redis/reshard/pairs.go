// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"errors"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/prober"
)

// pairsAtOnce limits how many moves run concurrently.
const pairsAtOnce = 8

// schedule holds the moves of a plan that are waiting or running, and the errors of the finished ones.
type schedule struct {
	waiting, moving []Move
	// failed is the error of the first move that failed. A move that was only stopped also sets failed, but a later
	// failure replaces its error. large reports a key that is too large to move.
	failed, large error
}

// next returns a move that may start. A server takes part in only one move at a time, so neither end of the move may be
// in a running move.
func (p *schedule) next(atOnce int) (Move, bool) {
	if len(p.moving) >= atOnce {
		return Move{}, false
	}
	i := slices.IndexFunc(p.waiting, func(move Move) bool { return !slices.ContainsFunc(p.moving, move.touches) })
	if i < 0 {
		return Move{}, false
	}
	move := p.waiting[i]
	p.waiting = slices.Delete(p.waiting, i, i+1)
	p.moving = append(p.moving, move)
	return move, true
}

// touches reports whether two moves have a server in common.
func (m Move) touches(other Move) bool {
	return m.From == other.From || m.From == other.To || m.To == other.From || m.To == other.To
}

// ended records the result of a move.
func (p *schedule) ended(move Move, err error) {
	p.moving = slices.DeleteFunc(p.moving, func(other Move) bool { return other.From == move.From && other.To == move.To })
	_, isLarge := errors.AsType[*LargeKeyError](err)
	switch {
	case err == nil:
	case isLarge && p.large == nil:
		p.large = err
	case isLarge:
	case p.failed == nil || errors.Is(p.failed, context.Canceled):
		p.failed = err
	}
}

// run executes the moves of the plan.
func (m *mover) run(ctx context.Context) error {
	m.giving = make(chan struct{}, 1)
	return m.inPairs(ctx)
}

// inPairs executes all moves of the plan. Moves without a common server run concurrently, and a failure stops the
// others. With a rate limit, which applies to all moves together, they run one by one.
func (m *mover) inPairs(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	atOnce := pairsAtOnce
	if m.plan.BytesPerSecond > 0 {
		atOnce = 1
	}
	p := &schedule{waiting: slices.Clone(m.plan.Moves)}
	ended := make(chan func())
	for {
		for p.failed == nil {
			move, ok := p.next(atOnce)
			if !ok {
				break
			}
			m.noteEnds(p.moving)
			go func() {
				err := prober.Contained(func() error { return m.move(ctx, move) })
				ended <- func() { p.ended(move, err) }
			}()
		}
		if len(p.moving) == 0 {
			break
		}
		(<-ended)()
		m.noteEnds(p.moving)
		if p.failed != nil {
			stop()
		}
	}
	if p.failed != nil {
		return p.failed
	}
	return p.large
}

// noteEnds publishes which servers take part in the moves in progress.
func (m *mover) noteEnds(moving []Move) {
	var ends []End
	for _, move := range moving {
		ends = append(ends, move.From, move.To)
	}
	m.note(func(p *Progress) { p.Ends = ends })
}
