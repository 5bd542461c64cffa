// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rewatch repeats a watch of the API server when its connection ends. Agents use it, because each of them watches
// few objects and needs no cache. What a watch reads and what its events mean belongs to the agent.
package rewatch

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/utils/clock"
)

const (
	firstWait = time.Second
	lastWait  = 30 * time.Second
)

// Run watches again and again until the context ends, with longer waits while the API server does not answer. once
// watches until the connection ends, and reports whether it has read something. lost is called once per outage.
func Run(ctx context.Context, clock clock.WithTicker, once func(context.Context) (seen bool, err error), lost func(error)) {
	wait, connected := firstWait, true
	for ctx.Err() == nil {
		seen, err := once(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case seen:
			wait, connected = firstWait, true
		case connected:
			connected = false
			lost(err)
		}
		Sleep(ctx, clock, wait/2+rand.N(wait)) //nolint:gosec // the jitter is not secret
		wait = min(2*wait, lastWait)
	}
}

// Sleep waits for some time, or until the context ends.
func Sleep(ctx context.Context, clock clock.WithTicker, wait time.Duration) {
	timer := clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}
