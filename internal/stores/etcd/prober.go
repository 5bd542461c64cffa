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

// These are the errors of package prober, repeated here so that callers need to import only this package.
var (
	ErrNotWatched = prober.ErrNotWatched
	ErrBusy       = prober.ErrBusy
)

type (
	// Prober reads etcd clusters in the background.
	Prober = prober.Prober[Target, View, Store]
	// Work runs on a cluster in the background and may take minutes, such as a defragmentation.
	Work = prober.Work[Store]

	cluster = prober.Cluster[Target, View, Store]
)

// NewProber returns a prober that opens stores with dial. interval returns the time until the next read; nil stands for
// DefaultInterval.
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

// failed returns the view for a read that panicked. It keeps the parts of the previous view that may be shown to users.
func failed(before View, err error) View {
	return View{At: before.At, Err: err, ClusterID: before.ClusterID, Members: before.Members, ClusterVersion: before.ClusterVersion, Decided: before.Decided}
}

// looker reads one cluster for the prober.
type looker struct {
	*cluster
	rounds *prober.Rounds[MemberStatus]
}

func newLooker(c *cluster) prober.Looker[View] {
	return &looker{cluster: c, rounds: prober.NewRounds[MemberStatus](c, nil)}
}

// End does nothing, because this looker runs nothing in the background.
func (l *looker) End() {}

// begin starts to query members for their status.
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
