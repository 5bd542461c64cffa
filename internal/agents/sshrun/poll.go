// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"context"
	"fmt"
	"slices"
)

// poll looks at the host over other connections, until the command has ended there, or the host has not responded for a
// while. It never starts the command.
func (r *runner) poll(ctx context.Context, why error) <-chan report {
	out := make(chan report, 1)
	go func() {
		// The end of ctx means that the command must be ended. Its end is still of interest.
		out <- r.findOut(context.WithoutCancel(ctx), why)
	}()
	return out
}

// findOut returns what the host says about a run that was started earlier. While the command runs, it waits.
func (r *runner) findOut(ctx context.Context, why error) report {
	for {
		if got := r.reach(ctx, why); got.word != wordAlive {
			return got
		}
		r.pause(ctx, r.limits.poll)
	}
}

// reach asks the host until it answers, but only for a while.
func (r *runner) reach(ctx context.Context, why error) report {
	until := r.clock.Now().Add(r.lost)
	for {
		got := r.look(ctx)
		switch {
		case got.word != wordBroken:
			return got
		case ctx.Err() != nil || !r.clock.Now().Before(until):
			return broken(lostBecause(why, got.text))
		}
		r.pause(ctx, r.limits.poll)
	}
}

func lostBecause(why error, last string) string {
	if why == nil {
		return last
	}
	return fmt.Sprintf("the connection was lost (%v), and the host cannot be asked how the command ended: %s", why, last)
}

// look asks the host once what became of the run.
func (r *runner) look(ctx context.Context) report {
	l, refusal, err := r.dial(ctx)
	switch {
	case refusal != nil:
		return broken(refusal.Message)
	case err != nil:
		return broken(err.Error())
	}
	defer l.close()
	ctx, cancel := context.WithTimeout(ctx, r.open)
	defer cancel()
	got := r.ask(ctx, l, r.script.Look())
	if !slices.Contains([]string{wordResult, wordAlive, wordLost, wordNone, wordBroken}, got.word) {
		return broken("the host gave an answer that opcrew does not know")
	}
	return got
}
