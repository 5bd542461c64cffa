// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv"
)

// window is how long the test counts the requests of an idle operator after changes that do not concern it.
const window = 5 * time.Second

// phase contains what a measured operator did in one part of the benchmark.
type phase struct {
	calls      testenv.Calls // see Call.IsCounted
	reconciles int
	cpu        time.Duration // CPU time
}

func (p phase) writes() int { return len(p.calls.Writes()) }
func (p phase) reads() int  { return len(p.calls) - p.writes() }

// String formats the phase as a table cell.
func (p phase) String() string {
	return fmt.Sprintf("%d writes, %d reads, %d reconciles", p.writes(), p.reads(), p.reconciles)
}

// during returns what the process does while do runs.
func (p *process) during(t *testing.T, do func()) phase {
	t.Helper()
	mark, before := env.Audit.Mark(t), p.scrape(t)
	do()
	calls, after := env.Audit.Since(t, mark).By(p.user).Counted(), p.scrape(t)
	const reconciles, seconds = "controller_runtime_reconcile_total", "process_cpu_seconds_total"
	return phase{
		calls, int(after[reconciles] - before[reconciles]),
		time.Duration((after[seconds] - before[seconds]) * float64(time.Second)),
	}
}

// calm waits until the process has made no request for d, and reports whether this happened in time. Only opcrew must
// become calm; for other operators, the result is just printed.
func (p *process) calm(t *testing.T, d time.Duration) bool {
	t.Helper()
	patience := 10 * time.Second
	if p.gated() {
		patience = time.Minute
	}
	for deadline := time.Now().Add(patience); ; {
		mark := env.Audit.Mark(t)
		time.Sleep(d)
		seen := env.Audit.Since(t, mark).By(p.user).Counted()
		switch late := time.Now().After(deadline); {
		case len(seen) == 0:
			return true
		case late && p.gated():
			t.Fatalf("%s did not stop making requests within %s:\n%s", p.name, patience, seen)
		case late:
			return false
		}
	}
}

// resting measures what the operator process does while noise makes changes that do not concern the operator. opcrew
// must make no requests. If asleep is set, it must not even reconcile.
func (p *process) resting(t *testing.T, tb *table, row string, asleep bool, noise func()) {
	t.Helper()
	got := p.during(t, func() {
		noise()
		time.Sleep(window)
	})
	tb.set(row, p.name, "%s", got)
	if p.gated() && len(got.calls) > 0 {
		t.Errorf("%s: expected no requests, but %s made:\n%s", row, p.name, got.calls)
	}
	if p.gated() && asleep && got.reconciles > 0 {
		t.Errorf("%s: expected no reconciles, but %s had %d", row, p.name, got.reconciles)
	}
}

// restarted measures what the process does after a restart. opcrew must write nothing.
func (p *process) restarted(t *testing.T, tb *table) {
	t.Helper()
	p.stop(t)
	mark := env.Audit.Mark(t)
	p.run(t)
	calm := p.calm(t, 3*time.Second)
	got := phase{calls: env.Audit.Since(t, mark).By(p.user).Counted()}
	tb.set("restart", p.name, "%d writes, %d reads%s", got.writes(), got.reads(), map[bool]string{false: ", and goes on"}[calm])
	if p.gated() && got.writes() > 0 {
		t.Errorf("a restart should cause no writes, but %s wrote:\n%s", p.name, got.calls.Writes())
	}
}
