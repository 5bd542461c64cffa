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
	// mostChanges is the number of changes of one call.
	mostChanges = 20
	// mostExamples is how many rules a message names.
	mostExamples = 2
)

// Tool is ufw on a host.
type Tool struct {
	// Run runs a program on the host, and returns its output. Absent is the error for a program that does not exist.
	Run    func(ctx context.Context, args ...string) (string, error)
	Absent error
}

// Name returns the name of the firewall.
func (t *Tool) Name() string { return "ufw" }

// Keep makes the rules of opcrew those that are declared. An inactive ufw gets none, and loses those that it has.
func (t *Tool) Keep(ctx context.Context, declared []opening.Opening) (runs bool, left int, err error) {
	status, err := t.Run(ctx, "ufw", "status")
	if errors.Is(err, t.Absent) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	if runs = strings.HasPrefix(status, "Status: active"); !runs {
		declared = nil
	}
	want := planOf(declared)
	before, err := t.read(ctx, &want)
	if err != nil || before.Size() == 0 {
		return runs, 0, errors.Join(err, want.problem())
	}
	failed := t.apply(ctx, before.First(mostChanges))
	after, err := t.read(ctx, &want)
	switch {
	case err != nil:
		return runs, 0, err
	case after.Size() >= before.Size():
		return runs, 0, cmp.Or(failed, fmt.Errorf("it did not take rules, such as %s", append(after.Add, after.Remove...)[0]))
	case !runs:
		failed = nil // ufw fails to load the rules of a firewall that is enabled and did not start, but removes them
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
		return errors.New("it has no rules for SCTP; open these ports in /etc/ufw/before.rules, or use the protocols TCP and UDP")
	}
	return nil
}

// read returns the changes that are needed, and notes which rules of the administrator are in the way.
func (t *Tool) read(ctx context.Context, want *plan) (opening.Changes, error) {
	text, err := t.Run(ctx, "ufw", "show", "added")
	if err != nil {
		return opening.Changes{}, err
	}
	var ours []string
	foreign := map[string]string{}
	for _, r := range parseRules(text) {
		if r.ours && r.action == "allow" {
			ours = append(ours, r.packets)
		} else {
			foreign[r.packets] = r.action
		}
	}
	declared := slices.Clone(want.packets)
	want.denied = nil
	declared = slices.DeleteFunc(declared, func(packets string) bool {
		action, exists := foreign[packets]
		if exists && action != "allow" {
			want.denied = append(want.denied, action+" "+packets)
		}
		return exists
	})
	return opening.Diff(ours, declared), nil
}

// apply makes all changes, and returns the first error.
func (t *Tool) apply(ctx context.Context, c opening.Changes) (failed error) {
	for _, packets := range c.Remove {
		_, err := t.Run(ctx, append([]string{"ufw", "delete", "allow"}, strings.Fields(packets)...)...)
		failed = cmp.Or(failed, err)
	}
	for _, packets := range c.Add {
		args := append([]string{"ufw", "allow"}, strings.Fields(packets)...)
		_, err := t.Run(ctx, append(args, "comment", comment)...)
		failed = cmp.Or(failed, err)
	}
	return failed
}
