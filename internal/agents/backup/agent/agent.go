// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agent carries out an order of package backup: it saves, prunes, verifies and restores.
// One file has one of these; shelf.go is what they know of the objects of a path.
//
// What does not live here: how a store is reached (store), how etcd is read (snapshot), and how
// a data directory is made (datadir).
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Agent carries out orders.
type Agent struct {
	Clock clock.PassiveClock
	Log   *slog.Logger
	// Open opens the store of a target: store.Open.
	Open func(context.Context, backup.Target) (store.Store, string, error)
	// DataDir makes data directories: datadir.Apart.
	DataDir datadir.Runner
}

// New is an agent for real.
func New(log *slog.Logger) *Agent {
	return &Agent{Clock: clock.RealClock{}, Log: log, Open: store.Open, DataDir: datadir.Apart}
}

var errTime = errors.New("the time is over")

// Run carries out an order and says what became of it. When ctx ends it stops, and leaves
// nothing half written.
func (a *Agent) Run(ctx context.Context, o backup.Order) backup.Result {
	started := a.Clock.Now()
	whole := ctx
	if o.TimeoutSeconds > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, time.Duration(o.TimeoutSeconds)*time.Second, errTime)
		defer cancel()
		ctx = bounded
	}
	result, err := a.act(ctx, o)
	if err != nil {
		result = failed(whole, ctx, result, err, o)
	}
	result.StartedAt, result.EndedAt = started.UTC(), a.Clock.Now().UTC()
	return result
}

func (a *Agent) act(ctx context.Context, o backup.Order) (backup.Result, error) {
	if err := o.Check(); err != nil {
		return backup.Result{}, backup.Fail(backup.ReasonBadOrder, "%w", err)
	}
	if o.Restore != nil && o.Restore.From != nil {
		return a.takeOver(ctx, o)
	}
	s, err := a.shelf(ctx, o.Target)
	if err != nil {
		return backup.Result{}, err
	}
	defer func() { _ = s.Close() }() // what counts is written by then
	switch {
	case o.Save != nil:
		return a.save(ctx, s, o)
	case o.Prune != nil:
		return a.prune(ctx, s, o.Prune.Keep)
	case o.Verify != nil:
		return a.verify(ctx, s, *o.Verify)
	default:
		return a.restore(ctx, s, o)
	}
}

// failed says why an order failed: what ended it comes before what that led to.
func failed(whole, bounded context.Context, r backup.Result, err error, o backup.Order) backup.Result {
	r.Outcome, r.Reason, r.Message = backup.Failed, backup.ReasonOf(err, backup.ReasonStoreFailed), err.Error()
	switch {
	case whole.Err() != nil:
		r.Outcome, r.Reason, r.Message = backup.Stopped, backup.ReasonStopped, "the pod was ended: "+r.Message
	case errors.Is(context.Cause(bounded), errTime):
		r.Reason, r.Message = backup.ReasonTimeout, fmt.Sprintf("not done within %d seconds: %s", o.TimeoutSeconds, r.Message)
	case r.Reason == backup.ReasonBadOrder:
		r.Outcome = backup.Invalid
	}
	return r
}
