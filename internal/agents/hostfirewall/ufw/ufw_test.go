// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ufw

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

var errAbsent = errors.New("no such program")

// host is a host with ufw 0.36, which keeps one rule for the same packets, and lists them in one form.
type host struct {
	t        *testing.T
	rules    []string // as ufw show added lists them, without "ufw "
	inactive bool
	absent   bool
	deaf     bool
	unloaded bool // it is enabled, but its rules are not in the kernel
	noIPv6   bool
	broken   bool // it cannot say its status
	changes  []string
	reloads  int
}

func newHost(t *testing.T, rules ...string) (*host, *Tool) {
	t.Helper()
	h := &host{t: t, rules: rules}
	return h, &Tool{Run: h.run, Absent: errAbsent, Doubt: Doubt{filepath.Join(t.TempDir(), "doubt")}}
}

func (h *host) run(_ context.Context, args ...string) (string, error) {
	text := strings.Join(args[1:], " ")
	switch {
	case h.absent:
		return "", errAbsent
	case args[0] == "grep" && !h.noIPv6:
		return "", errors.New("exit status 1")
	case args[0] == "grep":
		return "", nil
	case text == "status":
		return h.status()
	case text == "show added" && len(h.rules) == 0:
		return "Added user rules (see 'ufw status' for running firewall):\n(None)\n", nil
	case text == "show added":
		return "Added user rules (see 'ufw status' for running firewall):\nufw " + strings.Join(h.rules, "\nufw ") + "\n", nil
	case text == "reload":
		h.reloads++
		return "", nil
	}
	h.changes = append(h.changes, text)
	if !h.deaf {
		h.change(args[1:])
	}
	if h.unloaded {
		return "", errors.New("exit status 1: ERROR: problem running")
	}
	return "", nil
}

func (h *host) status() (string, error) {
	switch {
	case h.broken:
		return "", errors.New("exit status 1: ERROR: problem running iptables")
	case h.inactive:
		return "Status: inactive\n", nil
	}
	return "Status: active\n\nTo                         Action      From\n", nil
}

// change does what ufw does: a rule is the same as another one with other actions, logs and comments, but a deletion
// with a comment needs this comment.
func (h *host) change(args []string) {
	n := len(args) - 2
	line := strings.Join(args[:n], " ") + " comment '" + args[n+1] + "'"
	if rule, remove := strings.CutPrefix(line, "delete "); remove {
		h.rules = slices.DeleteFunc(h.rules, func(r string) bool { return r == rule })
		return
	}
	h.rules = slices.DeleteFunc(h.rules, func(r string) bool { return packetsOf(r) == packetsOf(line) })
	h.rules = append(h.rules, line)
}

func packetsOf(rule string) string {
	rule, _, _ = strings.Cut(rule, " comment ")
	_, rule, _ = strings.Cut(rule, " ")
	return strings.TrimPrefix(strings.TrimPrefix(rule, "log-all "), "log ")
}

func rule1(port uint16, sources ...string) nodefirewall.Rule {
	r := nodefirewall.Rule{Any: len(sources) == 0, Ports: []nodefirewall.Ports{{Protocol: nodefirewall.TCP, First: port, Last: port}}}
	for _, s := range sources {
		r.From = append(r.From, netip.MustParsePrefix(s))
	}
	return r
}

// keep calls Keep until no changes are left.
func (h *host) keep(tool *Tool, rules ...nodefirewall.Rule) (runs bool, err error) {
	h.changes = nil
	for left := 1; left > 0; {
		if runs, left, err = tool.Keep(h.t.Context(), opening.Of(rules)); err != nil && left == 0 {
			return runs, err
		}
	}
	return runs, err
}

func (h *host) want(when string, rules ...string) {
	h.t.Helper()
	got := slices.Sorted(slices.Values(h.rules))
	if slices.Sort(rules); !slices.Equal(got, rules) {
		h.t.Errorf("%s: expected the rules\n%s\ngot\n%s", when, strings.Join(rules, "\n"), strings.Join(got, "\n"))
	}
}

func TestRulesAreAddedOnceAndRemoved(t *testing.T) {
	const ssh, dns = "limit 22/tcp", "allow 53/udp comment 'opcrew is not the owner'"
	h, tool := newHost(t, ssh, dns)
	rules := []nodefirewall.Rule{rule1(8080, "10.0.0.0/8", "10.2.0.7/32", "fd00::1/128"), rule1(9000), {Any: true}, {From: []netip.Prefix{netip.MustParsePrefix("fd03::/16")}}}
	if runs, err := h.keep(tool, rules...); !runs || err != nil {
		t.Fatalf("expected an active firewall and no error, got %v, %v", runs, err)
	}
	h.want("after the first call", ssh, dns,
		"allow from 10.0.0.0/8 to any port 8080 proto tcp comment 'opcrew hostFirewall'", "allow from 10.2.0.7 to any port 8080 proto tcp comment 'opcrew hostFirewall'",
		"allow from fd00::1 to any port 8080 proto tcp comment 'opcrew hostFirewall'", "allow 9000/tcp comment 'opcrew hostFirewall'",
		"allow to any comment 'opcrew hostFirewall'", "allow from fd03::/16 comment 'opcrew hostFirewall'")
	if _, err := h.keep(tool, rules...); err != nil || len(h.changes) > 0 {
		t.Errorf("expected no further change, got %q, %v", h.changes, err)
	}
	if _, err := h.keep(tool, rule1(9000)); err != nil || len(h.changes) != 5 {
		t.Errorf("expected five rules to be removed, got %q, %v", h.changes, err)
	}
	if _, err := h.keep(tool); err != nil {
		t.Error(err)
	}
	h.want("after all rules went", ssh, dns)
}

func TestRulesOfTheAdministratorStay(t *testing.T) {
	theirs := []string{
		"deny 9000/tcp", "allow 7000/tcp", "reject log 9001/tcp", "allow log-all 9002/tcp comment 'opcrew hostFirewall'",
		"deny 9003/tcp comment 'opcrew hostFirewall'", "allow 9004/tcp comment 'opcrew'",
	}
	h, tool := newHost(t, slices.Clone(theirs)...)
	runs, err := h.keep(tool, rule1(9000), rule1(7000), rule1(7001), rule1(9001), rule1(9002), rule1(9003), rule1(9004))
	if !runs || err == nil || !strings.Contains(err.Error(), "deny 9000/tcp") {
		t.Errorf("expected the rule that is in the way, got %v", err)
	}
	h.want("beside opcrew's rules", append(slices.Clone(theirs), "allow 7001/tcp comment 'opcrew hostFirewall'")...)
	if _, err := h.keep(tool); err != nil {
		t.Error(err)
	}
	h.want("after opcrew's rules went", theirs...)
}

func TestALaterDenyOfTheAdministratorComesFirst(t *testing.T) {
	h, tool := newHost(t)
	rules := []nodefirewall.Rule{rule1(80, "10.0.0.0/8", "fd00::/8"), rule1(81, "10.0.0.0/8")}
	if _, err := h.keep(tool, rules...); err != nil {
		t.Fatal(err)
	}
	h.rules = slices.Insert(h.rules, 1, "deny from 10.6.6.6")
	if _, err := h.keep(tool, rules...); err != nil || len(h.changes) != 2 {
		t.Errorf("expected one rule to move, got %q, %v", h.changes, err)
	}
	if h.rules[0] != "deny from 10.6.6.6" {
		t.Errorf("expected the deny first, got %q", h.rules)
	}
	h.rules = append(h.rules, "deny from fd00::6")
	if _, err := h.keep(tool, rules...); err != nil || len(h.changes) != 2 {
		t.Errorf("expected the rule for IPv6 to move, got %q, %v", h.changes, err)
	}
	h.rules = append(slices.DeleteFunc(h.rules, func(r string) bool { return r == "deny from fd00::6" }), "deny from fd00::6")
	for range 2 { // ufw lists it last
		h.rules = append(slices.DeleteFunc(h.rules, func(r string) bool { return strings.Contains(r, "fd00::") }), "deny from fd00::6", "allow from fd00::/8 to any port 80 proto tcp comment 'opcrew hostFirewall'")
		if _, err := h.keep(tool, rules...); err != nil || len(h.changes) > 0 {
			t.Errorf("expected no further change, got %q, %v", h.changes, err)
		}
	}
}

func TestAPortThatStaysOpenDoesNotCloseMeanwhile(t *testing.T) {
	h, tool := newHost(t)
	wide := rule1(80)
	wide.Ports[0].Last = 81
	if _, err := h.keep(tool, rule1(80)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.keep(tool, wide); err != nil || len(h.changes) != 2 || !strings.HasPrefix(h.changes[0], "allow 80:81/tcp") {
		t.Errorf("expected the new rule before the deletion of the old one, got %q, %v", h.changes, err)
	}
}

func TestUfwIsReloadedAfterAChangeThatMayNotBeInTheKernel(t *testing.T) {
	h, tool := newHost(t)
	h.unloaded = true
	if _, err := h.keep(tool, rule1(80)); err == nil || h.reloads != 0 {
		t.Fatalf("expected the error of ufw, got %v", err)
	}
	h.unloaded = false
	again := &Tool{Run: h.run, Absent: errAbsent, Doubt: tool.Doubt} // the agent was killed
	if _, err := h.keep(again, rule1(80)); err != nil || h.reloads != 1 {
		t.Errorf("expected one reload, got %d, %v", h.reloads, err)
	}
	if _, err := h.keep(again, rule1(80)); err != nil || h.reloads != 1 {
		t.Errorf("expected no further reload, got %d, %v", h.reloads, err)
	}
}

func TestABrokenUfwWithoutRulesDelaysNothing(t *testing.T) {
	h, tool := newHost(t, "allow 22/tcp")
	h.broken = true
	if _, err := h.keep(tool); err != nil {
		t.Errorf("expected no error without rules, got %v", err)
	}
	if _, err := h.keep(tool, rule1(80)); err == nil {
		t.Error("expected the error of ufw with rules")
	}
}

func TestUfwWithoutIPv6GetsNoRulesForIt(t *testing.T) {
	h, tool := newHost(t)
	h.noIPv6 = true
	if _, err := h.keep(tool, rule1(80, "10.0.0.0/8", "fd00::/8")); err != nil {
		t.Error(err)
	}
	h.want("without IPv6", "allow from 10.0.0.0/8 to any port 80 proto tcp comment 'opcrew hostFirewall'")
}

func TestAnInactiveUfwLosesTheRules(t *testing.T) {
	h, tool := newHost(t)
	if _, err := h.keep(tool, rule1(80), rule1(81)); err != nil {
		t.Fatal(err)
	}
	h.unloaded = true
	if _, err := h.keep(tool, rule1(80), rule1(82)); err == nil || !strings.Contains(err.Error(), "problem running") {
		t.Errorf("expected the error of an active firewall that does not take changes, got %v", err)
	}
	h.inactive, h.unloaded = true, true
	if runs, err := h.keep(tool, rule1(80)); runs || err != nil {
		t.Errorf("expected an inactive firewall and no error, got %v, %v", runs, err)
	}
	h.want("while it is inactive")
	if tool.Doubt.exists() {
		t.Error("expected no mark of a change that is complete")
	}
	h.absent = true
	if runs, err := h.keep(tool, rule1(80)); runs || err != nil {
		t.Errorf("expected no firewall and no error, got %v, %v", runs, err)
	}
}

func TestWhatUfwCannotHaveIsReported(t *testing.T) {
	h, tool := newHost(t)
	sctp := nodefirewall.Rule{Any: true, Ports: []nodefirewall.Ports{{Protocol: nodefirewall.SCTP, First: 5, Last: 5}}}
	if _, err := h.keep(tool, sctp, rule1(81, "0.0.0.0/0"), rule1(80)); err == nil || !strings.Contains(err.Error(), "SCTP") {
		t.Errorf("expected the protocol, got %v", err)
	}
	h.want("without SCTP and a rule of one family", "allow 80/tcp comment 'opcrew hostFirewall'")
	var many []string
	for i := range mostRules + 1 {
		many = append(many, fmt.Sprintf("10.0.%d.%d/32", i/250, i%250))
	}
	if _, err := h.keep(tool, rule1(80, many...)); err == nil || !strings.Contains(err.Error(), "200 of 201") || len(h.rules) != mostRules {
		t.Errorf("expected %d rules and an error, got %d, %v", mostRules, len(h.rules), err)
	}
	h.deaf = true
	if _, err := h.keep(tool); err == nil || !strings.Contains(err.Error(), "did not take") {
		t.Errorf("expected an error about rules that stay, got %v", err)
	}
}
