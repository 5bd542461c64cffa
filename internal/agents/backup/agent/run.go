// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

var errTime = errors.New("the time limit of the order has passed")

// Run executes an order and returns its result. When ctx ends, Run stops and leaves nothing half written.
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
	s, err := a.catalog(ctx, o.Target)
	if err != nil {
		return backup.Result{}, err
	}
	defer func() { _ = s.Close() }() // an error does not matter: all objects have been written
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

// failed adds the reason for a failure to the result of an order. If the pod was stopped or the order timed out, failed
// reports this as the reason, instead of the error that resulted from it.
func failed(whole, bounded context.Context, r backup.Result, err error, o backup.Order) backup.Result {
	r.Outcome, r.Reason, r.Message = backup.Failed, backup.ReasonOf(err, backup.ReasonStoreFailed), err.Error()
	switch {
	case whole.Err() != nil:
		r.Outcome, r.Reason, r.Message = backup.Stopped, backup.ReasonStopped, "the pod was stopped: "+r.Message
	case errors.Is(context.Cause(bounded), errTime):
		r.Reason, r.Message = backup.ReasonTimeout, fmt.Sprintf("the order was not completed within %d seconds: %s", o.TimeoutSeconds, r.Message)
	case r.Reason == backup.ReasonBadOrder:
		r.Outcome = backup.Invalid
	}
	return r
}
