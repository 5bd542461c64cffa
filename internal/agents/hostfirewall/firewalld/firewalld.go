// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewalld

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
)

const (
	// mostRules limits the rules of a zone, because firewalld takes about 10 ms for each.
	mostRules = 2000
	// mostChanges is the number of changes of one call.
	mostChanges = 100
	// notRunning is the exit code of firewall-cmd if firewalld does not run (firewall-cmd(1), section Exit Codes).
	notRunning = 252
)

// Tool is firewalld on a host.
type Tool struct {
	// Run runs a program on the host, and returns its output. Absent is the error for a program that does not exist.
	Run    func(ctx context.Context, args ...string) (string, error)
	Absent error
}

// Name returns the name of the firewall.
func (t *Tool) Name() string { return "firewalld" }

// Keep makes the rules of opcrew in all zones those that are declared. Without declared rules, it also removes those that
// an administrator made permanent with --runtime-to-permanent.
func (t *Tool) Keep(ctx context.Context, declared []opening.Opening) (runs bool, left int, err error) {
	before, runs, err := t.read(ctx, declared)
	if err == nil && len(declared) == 0 {
		err = t.forget(ctx, runs)
	}
	if err != nil || !runs {
		return runs, 0, err
	}
	if before.size() == 0 {
		return true, 0, tooMany(declared)
	}
	failed := t.apply(ctx, before.first(mostChanges))
	after, runs, err := t.read(ctx, declared)
	switch {
	case err != nil:
		return runs, 0, err
	case failed != nil:
		return runs, 0, failed
	case after.size() >= before.size():
		return runs, 0, fmt.Errorf("it did not take rules, such as %s", after.example())
	}
	return runs, after.size(), tooMany(declared)
}

// forget removes permanent rules. That needs no reload. A firewalld that does not run has a command of its own for them.
func (t *Tool) forget(ctx context.Context, runs bool) error {
	command := []string{"firewall-offline-cmd"}
	if runs {
		command = []string{"firewall-cmd", "--permanent"}
	}
	text, err := t.Run(ctx, append(command, "--list-all-zones")...)
	if errors.Is(err, t.Absent) {
		return nil
	}
	for _, z := range parseZones(text) {
		err = errors.Join(err, t.change(ctx, command, z.name, "--remove-rich-rule=", z.rules))
	}
	return err
}

func tooMany(declared []opening.Opening) error {
	if len(declared) <= mostRules {
		return nil
	}
	return fmt.Errorf("it gets only %d of %d rules, one for each source and range of ports; name CIDRs instead of large pools", mostRules, len(declared))
}

// difference has the changes of each zone.
type difference map[string]opening.Changes

func (d difference) size() int {
	n := 0
	for _, c := range d {
		n += c.Size()
	}
	return n
}

func (d difference) first(n int) difference {
	out := difference{}
	for _, name := range d.zones() {
		out[name] = d[name].First(n)
		n -= out[name].Size()
	}
	return out
}

// zones are sorted, so that a message does not change while nothing changes.
func (d difference) zones() []string { return slices.Sorted(maps.Keys(d)) }

func (d difference) example() string {
	for _, name := range d.zones() {
		for _, rule := range append(d[name].Add, d[name].Remove...) {
			return rule + " in zone " + name
		}
	}
	return ""
}

// read returns what the zones differ in from the declared rules; false if firewalld does not run.
func (t *Tool) read(ctx context.Context, declared []opening.Opening) (difference, bool, error) {
	main, err := t.Run(ctx, "firewall-cmd", "--get-default-zone")
	if exit := (*exec.ExitError)(nil); errors.Is(err, t.Absent) || errors.As(err, &exit) && exit.ExitCode() == notRunning {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	text, err := t.Run(ctx, "firewall-cmd", "--list-all-zones")
	if err != nil {
		return nil, true, err
	}
	want := rules(declared[:min(len(declared), mostRules)])
	out := difference{}
	for _, z := range parseZones(text) {
		mine := want
		if !z.opens(strings.TrimSpace(main)) {
			mine = nil
		}
		out[z.name] = opening.Diff(z.rules, mine)
	}
	return out, true, nil
}

// apply makes changes in all zones, even if one fails.
func (t *Tool) apply(ctx context.Context, d difference) error {
	var failed []error
	for _, name := range d.zones() {
		failed = append(failed,
			t.change(ctx, []string{"firewall-cmd"}, name, "--add-rich-rule=", d[name].Add),
			t.change(ctx, []string{"firewall-cmd"}, name, "--remove-rich-rule=", d[name].Remove))
	}
	return errors.Join(failed...)
}

func (t *Tool) change(ctx context.Context, command []string, zone, option string, rules []string) error {
	if len(rules) == 0 {
		return nil
	}
	args := append(slices.Clone(command), "--zone="+zone)
	for _, rule := range rules {
		args = append(args, option+rule)
	}
	_, err := t.Run(ctx, args...)
	return err
}
