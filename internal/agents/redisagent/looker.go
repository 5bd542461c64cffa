// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// freshness is for how long what a server has said is said again.
	freshness = time.Second
	// patience is how long the servers are waited for: one second less than probes should have.
	patience = 2 * time.Second
)

// view is the pod as it was looked at.
type view struct{ home, guest status }

// looker looks at both servers. However many ask, and anyone who they are, the servers are asked
// once a second.
type looker struct {
	clock       clock.PassiveClock
	home, guest *server

	mu   sync.Mutex
	at   time.Time
	last view
}

func newLooker(o Options, c clock.PassiveClock) *looker {
	return &looker{clock: c, home: &server{address: local(o.Home), secrets: o.Secrets}, guest: &server{address: local(o.Guest), secrets: o.Secrets}}
}

// look returns what is known for a second at most.
func (l *looker) look(ctx context.Context) view {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsZero() && l.clock.Since(l.at) < freshness {
		return l.last
	}
	// That one who asks has gone must not be what the next one hears.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var asking sync.WaitGroup
	asking.Go(func() { l.last.home = l.home.ask(ctx) })
	asking.Go(func() { l.last.guest = l.guest.ask(ctx) })
	asking.Wait()
	l.at = l.clock.Now()
	return l.last
}
