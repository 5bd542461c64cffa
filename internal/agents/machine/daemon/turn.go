// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
)

const (
	// Forever is the pause until something happens.
	Forever = time.Duration(math.MaxInt64)

	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Turn carries out the next step, and returns how long to wait before the next one.
func (a *Agent) Turn(ctx context.Context) time.Duration {
	if !a.tick() {
		return lastRetry
	}
	a.start(a.now.Uptime)
	in := a.observe()
	step := decide.Next(&in)
	if step.Do == decide.Wait {
		return a.pause(step.After)
	}
	key := keyOf(step, &in)
	if left := a.held[key].until - a.now.Uptime; left > 0 {
		return left
	}
	pause, err := a.do(ctx, step, &in)
	a.tick() // the pause begins when the step ends
	if err != nil {
		return a.fail(ctx, key, err)
	}
	a.hold(key, 0, pause)
	return pause
}

// start is called in each turn, and notes when the process began.
func (a *Agent) start(uptime time.Duration) {
	if a.held == nil {
		a.held, a.started, a.answered = map[string]hold{}, uptime, uptime
	}
}

// pause returns how long to wait, and at most until a failed write may be repeated.
func (a *Agent) pause(after time.Duration) time.Duration {
	if after == 0 {
		after = Forever
	}
	if left := a.held[reportKey].until - a.now.Uptime; left > 0 {
		after = min(after, left)
	}
	return after
}

// fail holds a step that failed. A crash of the process is no failure.
func (a *Agent) fail(ctx context.Context, key string, err error) time.Duration {
	if ctx.Err() != nil {
		return Forever
	}
	failures := a.held[key].failures + 1
	wait := lastRetry
	if failures < 7 {
		wait = firstRetry << (failures - 1)
	}
	if failures == 1 || wait == lastRetry && failures == 7 {
		a.Log.Warn("A step failed and is repeated", "step", key, "error", err.Error(), "after", wait.String())
	}
	a.hold(key, failures, wait)
	if key == reportKey {
		return 0 // other steps need no API server
	}
	return wait
}

func (a *Agent) hold(key string, failures int, wait time.Duration) {
	a.held[key] = hold{failures, a.now.Uptime + wait}
}

// keyOf identifies a step. A step of another configuration is another step.
func keyOf(step decide.Step, in *decide.Input) string {
	switch step.Do {
	case decide.Proceed:
		return fmt.Sprintf("%s %s", in.Trial.Step, in.Trial.Target())
	case decide.Preflight, decide.Begin:
		return fmt.Sprintf("%s %s", step.Do, in.Order.Config)
	}
	return string(step.Do)
}

func (a *Agent) do(ctx context.Context, step decide.Step, in *decide.Input) (time.Duration, error) {
	switch step.Do {
	case decide.Report:
		return 0, a.report(ctx, step.Write)
	case decide.Note:
		in.Journal.Order = *in.Order
		return 0, a.Journal.Save(in.Journal)
	case decide.Preflight:
		return 0, a.preflight(ctx, in.Order)
	case decide.Begin:
		return a.beginTrial(ctx, in.Order)
	case decide.Conclude:
		return 0, a.conclude(in)
	case decide.Scan:
		return 0, scanner{a}.scan(ctx, in)
	}
	return a.proceed(ctx, in)
}
