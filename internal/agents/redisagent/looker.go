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
	// freshness is how long the state of the servers is reused before they are queried again.
	freshness = time.Second
	// patience is how long to wait for the servers. It is one second less than the timeout of probes.
	patience = 2 * time.Second
)

// view holds the state of both servers of the pod at one time.
type view struct{ home, guest status }

// looker queries both servers at most once per second, regardless of the number of clients.
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

// look returns a view that is at most one second old.
func (l *looker) look(ctx context.Context) view {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsZero() && l.clock.Since(l.at) < freshness {
		return l.last
	}
	// The query must not end when the client disconnects, because its result also serves the next client.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var asking sync.WaitGroup
	asking.Go(func() { l.last.home = l.home.ask(ctx) })
	asking.Go(func() { l.last.guest = l.guest.ask(ctx) })
	asking.Wait()
	l.at = l.clock.Now()
	return l.last
}
