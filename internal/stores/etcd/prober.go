// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/prober"
)

const callTimeout = prober.CallTimeout

// Errors of a Prober.
var (
	ErrNotWatched = prober.ErrNotWatched
	ErrBusy       = prober.ErrBusy
)

type (
	// Prober looks at clusters of etcd.
	Prober = prober.Prober[Target, View, Store]
	// Work is done to a cluster beside the looks.
	Work = prober.Work[Store]

	cluster = prober.Cluster[Target, View, Store]
)

// NewProber returns a prober that dials by dial and looks again after interval; DefaultInterval if that is nil.
func NewProber(dial Dialer, clock clock.WithTicker, interval func(View) time.Duration) *Prober {
	if interval == nil {
		interval = DefaultInterval
	}
	return prober.New(prober.Source[Target, View, Store]{
		Dial: dial, Same: same, Interval: interval, Alike: alike, Mark: mark, Failed: failed, Looker: newLooker,
	}, clock)
}

func same(a, b Target) bool {
	return a.Generation == b.Generation && slices.Equal(a.Endpoints, b.Endpoints) && maps.Equal(a.Addresses, b.Addresses)
}

func mark(v View, stale bool, work string) View {
	v.Stale, v.Work = stale, work
	return v
}

// failed keeps what users can be shown of the previous view.
func failed(before View, err error) View {
	return View{At: before.At, Err: err, ClusterID: before.ClusterID, Members: before.Members, ClusterVersion: before.ClusterVersion, Decided: before.Decided}
}

// looker looks at one cluster.
type looker struct {
	*cluster
	rounds *prober.Rounds[MemberStatus]
}

func newLooker(c *cluster) prober.Looker[View] {
	return &looker{cluster: c, rounds: prober.NewRounds[MemberStatus](c, nil)}
}

// End does nothing: there is nothing to stop.
func (l *looker) End() {}

// begin asks members for their status.
func (l *looker) begin(ctx context.Context, store Store) *prober.Round[MemberStatus] {
	return l.rounds.Begin(ctx, store, func(ctx context.Context, endpoint string) (MemberStatus, error) {
		asked := l.Clock().Now()
		status, err := store.Status(ctx, endpoint)
		status.Asked = asked
		return status, err
	})
}

func statuses(answers map[string]prober.Answer[MemberStatus]) map[string]MemberStatus {
	out := map[string]MemberStatus{}
	for endpoint, answer := range answers {
		answer.Value.Err = answer.Err
		out[endpoint] = answer.Value
	}
	return out
}
