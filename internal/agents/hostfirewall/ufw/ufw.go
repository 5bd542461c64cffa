// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ufw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
)

const (
	// mostRules limits the rules, because ufw takes up to a second for each.
	mostRules = 200
	// mostExamples is how many rules a message names.
	mostExamples = 2
)

// Tool is ufw on a host.
type Tool struct {
	// Run runs a program on the host, and returns its output. Absent is the error for a program that does not exist.
	Run    func(ctx context.Context, args ...string) (string, error)
	Absent error
	Doubt  Doubt
}

// Name returns the name of the firewall.
func (t *Tool) Name() string { return "ufw" }

// Keep makes the rules of opcrew those that are declared. An inactive ufw gets none, and loses those that it has.
func (t *Tool) Keep(ctx context.Context, declared []opening.Opening) (runs bool, left int, err error) {
	want := planOf(t.filtered(ctx, declared))
	before, err := t.read(ctx, &want)
	if errors.Is(err, t.Absent) {
		return false, 0, t.Doubt.end()
	}
	if len(declared) > 0 || before.Size() > 0 || t.Doubt.exists() {
		status, problem := t.Run(ctx, "ufw", "status")
		if err = errors.Join(err, problem); err != nil {
			return false, 0, err
		}
		if runs = strings.HasPrefix(status, "Status: active"); !runs {
			want = plan{}
			before, err = t.read(ctx, &want)
		}
	}
	if err == nil {
		err = t.settle(ctx, runs)
	}
	if err != nil || before.Size() == 0 {
		return runs, 0, errors.Join(err, want.problem())
	}
	return t.change(ctx, runs, before, &want)
}

// filtered leaves out IPv6 if ufw does not filter it by rules: IPV6=no closes it, as the administrator decided.
func (t *Tool) filtered(ctx context.Context, declared []opening.Opening) []opening.Opening {
	if len(declared) == 0 {
		return nil
	}
	if _, err := t.Run(ctx, "grep", "-Eqis", `^IPV6="?no"?$`, "/etc/default/ufw"); err != nil {
		return declared
	}
	return slices.DeleteFunc(slices.Clone(declared), func(o opening.Opening) bool { return o.From.Addr().Is6() })
}

// settle reloads ufw after a change that may have reached its files only. An inactive ufw has no rules in the kernel.
func (t *Tool) settle(ctx context.Context, runs bool) error {
	if !t.Doubt.exists() {
		return nil
	}
	if runs {
		if _, err := t.Run(ctx, "ufw", "reload"); err != nil {
			return err
		}
	}
	return t.Doubt.end()
}

func (t *Tool) change(ctx context.Context, runs bool, before changes, want *plan) (bool, int, error) {
	if err := t.Doubt.begin(); err != nil {
		return runs, 0, err
	}
	failed := t.apply(ctx, before.first())
	if failed == nil || !runs { // a ufw that is enabled and did not start fails to load its rules
		failed = t.Doubt.end()
	}
	after, err := t.read(ctx, want)
	switch {
	case err != nil:
		return runs, 0, err
	case after.Size() >= before.Size():
		return runs, 0, cmp.Or(failed, fmt.Errorf("it did not take rules, such as %s", after.example()))
	}
	return runs, after.Size(), errors.Join(failed, want.problem())
}

// plan is what ufw should have, and what it cannot have.
type plan struct {
	packets     []string
	unsupported bool
	tooMany     int      // the number of all rules, if there are too many
	denied      []string // packets about which the administrator has another rule
}

func planOf(declared []opening.Opening) plan {
	var out plan
	for _, o := range declared {
		if text, supported := packets(o); supported {
			out.packets = append(out.packets, text)
		} else {
			out.unsupported = true
		}
	}
	slices.Sort(out.packets)
	out.packets = slices.Compact(out.packets)
	if n := len(out.packets); n > mostRules {
		out.tooMany, out.packets = n, out.packets[:mostRules]
	}
	return out
}

// problem says what ufw does not have.
func (p *plan) problem() error {
	switch {
	case len(p.denied) > 0:
		return fmt.Errorf("the administrator has other rules for the same packets (%s), which opcrew does not change; delete them, or remove the ports from spec.firewall",
			strings.Join(p.denied[:min(len(p.denied), mostExamples)], "; "))
	case p.tooMany > 0:
		return fmt.Errorf("it gets only %d of %d rules, one for each source and range of ports; name CIDRs instead of large pools", mostRules, p.tooMany)
	case p.unsupported:
		return errors.New("it has no rules for SCTP, and none for 0.0.0.0/0 or ::/0 alone; open these ports in /etc/ufw/before.rules, use the protocols TCP and UDP, and omit from to allow all addresses")
	}
	return nil
}

// read returns the changes that are needed, and notes which rules of the administrator are in the way.
func (t *Tool) read(ctx context.Context, want *plan) (changes, error) {
	text, err := t.Run(ctx, "ufw", "show", "added")
	if err != nil {
		return changes{}, err
	}
	listed := parseRules(text)
	foreign := map[string]string{}
	for _, r := range listed {
		if !r.ours {
			foreign[r.packets] = r.action
		}
	}
	want.denied = nil
	declared := slices.DeleteFunc(slices.Clone(want.packets), func(packets string) bool {
		action, exists := foreign[packets]
		if exists && action != "allow" {
			want.denied = append(want.denied, action+" "+packets)
		}
		return exists
	})
	return changesOf(listed, declared), nil
}

// apply makes all changes, and returns the first error. A deletion names the comment, so that it deletes no rule that an
// administrator took over.
func (t *Tool) apply(ctx context.Context, c changes) (failed error) {
	for _, packets := range c.Add {
		failed = cmp.Or(failed, t.rule(ctx, packets, "ufw", "allow"))
	}
	for _, packets := range c.Remove {
		failed = cmp.Or(failed, t.rule(ctx, packets, "ufw", "delete", "allow"))
	}
	for _, packets := range c.move {
		failed = cmp.Or(failed, t.rule(ctx, packets, "ufw", "delete", "allow"), t.rule(ctx, packets, "ufw", "allow"))
	}
	return failed
}

func (t *Tool) rule(ctx context.Context, packets string, command ...string) error {
	_, err := t.Run(ctx, append(append(command, strings.Fields(packets)...), "comment", comment)...)
	return err
}
