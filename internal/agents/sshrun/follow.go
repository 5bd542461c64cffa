// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"context"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/output"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// cause is the reason why the command is ended.
type cause int

const (
	byExit cause = iota
	byCancel
	byTimeout
)

// follow waits until the script has ended, and returns the result of the command.
func (r *runner) follow(ctx context.Context, l *link, x *exchange) *hostjob.Result {
	out := output.New(r.log, r.values()...)
	go out.Follow(x.output)
	first := r.first(ctx, l, x)
	result := r.outcome(ctx, l, x, first)
	if first.word == wordStarted {
		select {
		case <-out.Done():
		case <-r.clock.After(r.drain):
		}
	}
	out.End(result)
	return result
}

// first waits for the report that the command has started, or for another one that says why it has not.
func (r *runner) first(ctx context.Context, l *link, x *exchange) report {
	timeout := r.clock.After(r.begin)
	begun := false
	for {
		select {
		case got, ok := <-x.reports:
			switch {
			case !ok && begun:
				return r.reach(ctx, lossOf(l))
			case !ok:
				return r.silent(l)
			case got.word == wordHello:
				begun = true
			default:
				return got
			}
		case <-timeout:
			l.close()
			return broken("the host did not report within " + r.begin.String() + " whether the command started")
		}
	}
}

// wordSilent is for a login shell that ended without executing the script.
const wordSilent = "silent"

// silent returns the report for a script that ended before it said anything. If the connection still exists, the login
// shell of the user has refused it.
func (r *runner) silent(l *link) report {
	if l.within(l.alive, l.ask) == nil {
		return report{word: wordSilent}
	}
	return broken("the connection was lost before the host reported whether the command started")
}

// outcome returns the result that follows from the first report.
func (r *runner) outcome(ctx context.Context, l *link, x *exchange, first report) *hostjob.Result {
	began := r.clock.Now()
	var result *hostjob.Result
	switch first.word {
	case wordStarted:
		why, end := r.await(ctx, l, x.reports)
		result = r.conclude(why, end)
	case wordAlive:
		// An earlier container of this pod started the command.
		l.close()
		why, end := r.await(ctx, nil, r.poll(ctx, nil))
		result = r.conclude(why, end)
		result.Again = true
	default:
		return r.conclude(byExit, first)
	}
	if result.StartedAt.IsZero() {
		result.StartedAt = began
	}
	return result
}

// await waits for the end of the command. It ends the command on cancellation or after the timeout. If the connection is
// lost, it finds out over other connections how the command ended.
func (r *runner) await(ctx context.Context, l *link, reports <-chan report) (cause, report) {
	var timeout <-chan time.Time
	if r.order.TimeoutSeconds > 0 {
		timeout = r.clock.After(time.Duration(r.order.TimeoutSeconds) * time.Second)
	}
	for {
		select {
		case got, ok := <-reports:
			switch {
			case !ok:
				reports = r.poll(ctx, lossOf(l))
			case got.word != wordStarted && got.word != wordHello:
				return byExit, got
			}
		case <-ctx.Done():
			return byCancel, r.stop(l, reports)
		case <-timeout:
			return byTimeout, r.stop(l, reports)
		}
	}
}

// lossOf returns why a connection was lost.
func lossOf(l *link) error {
	if l == nil {
		return nil
	}
	l.wait(time.Second) // the connection may be about to end
	return l.cause()
}
