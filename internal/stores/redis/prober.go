// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/prober"
	"github.com/opcrew/opcrew/internal/stores/redis/reshard"
)

// ErrNotWatched is returned for a cluster that the prober does not read.
var ErrNotWatched = prober.ErrNotWatched

// errLate is the error of a server whose answer arrived only after the read that requested it. The prober discards that
// answer, because it may be outdated.
var errLate = errors.New("the server answers again, and is read once more")

// Prober reads Redis clusters periodically and moves slots in the background.
type Prober struct {
	*prober.Prober[Target, View, Store]
}

type cluster = prober.Cluster[Target, View, Store]

// NewProber returns a prober that connects with dial and waits interval between two reads. If interval is nil, it uses
// DefaultInterval.
func NewProber(dial Dialer, clock clock.WithTicker, interval func(View) time.Duration) *Prober {
	if interval == nil {
		interval = DefaultInterval
	}
	return &Prober{prober.New(prober.Source[Target, View, Store]{
		Dial: dial, Same: same, Interval: interval, Alike: alike, Mark: mark, Failed: failed, Looker: newLooker,
	}, clock)}
}

// Take executes a step like Do. For steps that move slots, it only starts or stops the move. The View shows the move's
// progress.
func (p *Prober) Take(ctx context.Context, key types.NamespacedName, step Step) error {
	switch step := step.(type) {
	case MoveSlots, StopMove:
		c, ok := p.Cluster(key)
		if !ok {
			return ErrNotWatched
		}
		return c.Looker().(*looker).takeMove(step)
	}
	return p.Do(ctx, key, func(ctx context.Context, store Store) error { return Apply(ctx, store, step) })
}

func (l *looker) takeMove(step Step) error {
	if move, begins := step.(MoveSlots); begins {
		return l.beginMove(move)
	}
	l.End()
	return nil
}

func same(a, b Target) bool {
	return a.Generation == b.Generation && slices.Equal(a.Nodes, b.Nodes)
}

func mark(v View, stale bool, _ string) View {
	v.Stale = stale
	return v
}

func failed(before View, err error) View { return View{At: before.At, Err: err, Move: before.Move} }

// looker reads one cluster.
type looker struct {
	*cluster
	rounds *prober.Rounds[NodeStatus]
	last   map[Node]NodeStatus // last known status of servers that do not answer; see remember
	moves  reshard.Moves
}

func newLooker(c *cluster) prober.Looker[View] {
	return &looker{cluster: c, rounds: prober.NewRounds[NodeStatus](c, errLate)}
}

func statuses(answers map[string]prober.Answer[NodeStatus]) map[string]NodeStatus {
	out := map[string]NodeStatus{}
	for address, answer := range answers {
		answer.Value.Err = answer.Err
		out[address] = answer.Value
	}
	return out
}
