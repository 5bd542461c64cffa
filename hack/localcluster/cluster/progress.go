// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"time"
)

// progress prints one line for each step, with the time since the start of the command.
type progress struct {
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, start: time.Now()}
}

// step is a step of a command, for which progress prints one line. timeout is the time limit of this step alone.
type step struct {
	name    string
	timeout time.Duration
	run     func(ctx context.Context) error
}

func (p *progress) run(ctx context.Context, steps ...step) error {
	for _, s := range steps {
		if err := p.runOne(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (p *progress) runOne(ctx context.Context, s step) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	began := time.Now()
	if err := s.run(ctx); err != nil {
		return err
	}
	p.say("%-44s %5.1fs", s.name, time.Since(began).Seconds())
	return nil
}

func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// detail prints an indented line about the current step.
func (p *progress) detail(format string, args ...any) {
	p.say("  "+format, args...)
}

func (p *progress) total() time.Duration {
	return time.Since(p.start).Round(100 * time.Millisecond)
}
