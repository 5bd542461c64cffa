// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewalld

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

var errAbsent = errors.New("no such program")

// host is a host with firewalld, whose zones are those of testdata/zones.txt: firewalld 1.3.3 of Debian 12 listed them.
type host struct {
	t        *testing.T
	rules    map[string][]string
	exit     int
	absent   bool
	deaf     bool // takes no rules
	commands [][]string
}

func newHost(t *testing.T) (*host, *Tool) {
	t.Helper()
	h := &host{t: t, rules: map[string][]string{"public": {`rule service name="http" reject`}}}
	return h, &Tool{Run: h.run, Absent: errAbsent}
}

func (h *host) run(_ context.Context, args ...string) (string, error) {
	switch {
	case h.absent:
		return "", fmt.Errorf("%s: %w", args[0], errAbsent)
	case args[0] == "firewall-offline-cmd" && args[1] == "--list-all-zones":
		return h.list("permanent "), nil
	case h.exit != 0 && args[0] == "firewall-cmd":
		return "", exec.Command("/bin/sh", "-c", fmt.Sprint("exit ", h.exit)).Run()
	case args[1] == "--get-default-zone":
		return "public\n", nil
	case args[1] == "--list-all-zones":
		return h.list(""), nil
	case args[2] == "--list-all-zones":
		return h.list("permanent "), nil
	}
	h.commands = append(h.commands, args)
	if h.deaf {
		return "", nil
	}
	zone := strings.TrimPrefix(args[1], "--zone=")
	if args[1] == "--permanent" {
		zone = "permanent " + strings.TrimPrefix(args[2], "--zone=")
	} else if args[0] == "firewall-offline-cmd" {
		zone = "permanent " + zone
	}
	for _, option := range args[2:] {
		if rule, add := strings.CutPrefix(option, "--add-rich-rule="); add {
			h.rules[zone] = append(h.rules[zone], rule)
		} else if rule, remove := strings.CutPrefix(option, "--remove-rich-rule="); remove {
			h.rules[zone] = slices.DeleteFunc(h.rules[zone], func(r string) bool { return r == rule })
		}
	}
	return "success\n", nil
}

// list returns the zones with their rules in the order in which firewalld happens to list them.
func (h *host) list(config string) string {
	text, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		h.t.Fatal(err)
	}
	var out strings.Builder
	zone := ""
	for line := range strings.Lines(string(text)) {
		out.WriteString(line)
		if line[0] >= 'a' && line[0] <= 'z' {
			zone = strings.Fields(line)[0]
		}
		if strings.HasPrefix(line, "  rich rules:") {
			for _, rule := range slices.Backward(h.rules[config+zone]) {
				out.WriteString("\t" + rule + "\n")
			}
		}
	}
	return out.String()
}

func openings(sources ...string) []opening.Opening {
	var rules []nodefirewall.Rule
	for _, s := range sources {
		rules = append(rules, nodefirewall.Rule{From: []netip.Prefix{netip.MustParsePrefix(s)}, Ports: []nodefirewall.Ports{{Protocol: nodefirewall.TCP, First: 80, Last: 90}}})
	}
	return opening.Of(rules)
}

func (h *host) wantRules(when string, want map[string]int) {
	h.t.Helper()
	for zone, rules := range h.rules {
		if len(rules) != want[zone] {
			h.t.Errorf("%s: expected %d rules in zone %s, got %q", when, want[zone], zone, rules)
		}
	}
}

func (h *host) keep(tool *Tool, declared []opening.Opening) (bool, int, error) {
	h.commands = nil
	return tool.Keep(h.t.Context(), declared)
}

func TestRulesAreKeptInTheZonesThatPacketsComeFrom(t *testing.T) {
	h, tool := newHost(t)
	two := openings("10.0.0.0/8", "fd00::/8")
	if runs, left, err := h.keep(tool, two); !runs || left != 0 || err != nil {
		t.Fatalf("expected all rules, got %v, %d left, %v", runs, left, err)
	}
	// Zone drop is active, but it bans sources. The others have neither interfaces nor sources.
	h.wantRules("after the first call", map[string]int{"public": 3, "internal": 2})
	if _, _, err := h.keep(tool, two); err != nil || len(h.commands) > 0 {
		t.Errorf("expected no further command, got %q, %v", h.commands, err)
	}
	h.rules["public"] = h.rules["public"][:1] // firewalld was reloaded
	if _, _, err := h.keep(tool, two); err != nil || len(h.commands) != 1 {
		t.Errorf("expected one command to repair the rules, got %q, %v", h.commands, err)
	}
	h.rules["drop"] = slices.Clone(h.rules["internal"]) // the zone had another target before
	if _, _, err := h.keep(tool, openings("10.0.0.0/8")); err != nil {
		t.Error(err)
	}
	h.wantRules("after a source went", map[string]int{"public": 2, "internal": 1})
	h.rules["permanent public"] = slices.Clone(h.rules["public"]) // firewall-cmd --runtime-to-permanent
	if _, _, err := h.keep(tool, nil); err != nil {
		t.Error(err)
	}
	if left := h.rules["permanent public"]; len(left) != 1 {
		t.Errorf("expected permanent rules of opcrew to go too, got %q", left)
	}
	delete(h.rules, "permanent public")
	h.wantRules("after all rules went", map[string]int{"public": 1})
}

func TestAHostWithoutARunningFirewalldNeedsNoRules(t *testing.T) {
	h, tool := newHost(t)
	for name, spoil := range map[string]func(){
		"not running": func() { h.exit = notRunning },
		"absent":      func() { h.exit, h.absent = 0, true },
	} {
		spoil()
		if runs, left, err := h.keep(tool, openings("10.0.0.0/8")); runs || left != 0 || err != nil {
			t.Errorf("%s: expected neither a firewall nor an error, got %v, %d, %v", name, runs, left, err)
		}
	}
	h.exit, h.absent = 1, false
	if _, _, err := h.keep(tool, nil); err == nil {
		t.Error("expected the error of firewall-cmd")
	}
}

func TestPermanentRulesGoEvenIfFirewalldDoesNotRun(t *testing.T) {
	h, tool := newHost(t)
	h.rules["permanent public"] = rules(openings("10.0.0.0/8", "fd00::/8"))
	h.exit = notRunning
	if _, _, err := h.keep(tool, nil); err != nil || len(h.rules["permanent public"]) > 0 {
		t.Errorf("expected no permanent rule, got %q, %v", h.rules["permanent public"], err)
	}
}

func TestRulesOfTheAdministratorWithThePriorityOfOpcrewStay(t *testing.T) {
	h, tool := newHost(t)
	theirs := []string{
		mark + `family="ipv4" source address="198.51.100.0/24" port port="7778" protocol="tcp" drop`,
		mark + `service name="http" accept`, mark + `port port="80" protocol="tcp" log accept`,
	}
	h.rules["public"] = slices.Clone(theirs)
	if _, _, err := h.keep(tool, nil); err != nil || !slices.Equal(h.rules["public"], theirs) {
		t.Errorf("expected the rules to stay, got %q, %v", h.rules["public"], err)
	}
}

func TestRulesThatFirewalldDoesNotTakeAreReported(t *testing.T) {
	h, tool := newHost(t)
	h.deaf = true
	_, _, err := h.keep(tool, openings("10.0.0.0/8"))
	if err == nil || !strings.Contains(err.Error(), `source address="10.0.0.0/8"`) {
		t.Errorf("expected an error with the rule, got %v", err)
	}
}

func TestTooManyRulesAreAddedInPartAndReported(t *testing.T) {
	h, tool := newHost(t)
	var many []string
	for i := range mostRules + 1 {
		many = append(many, fmt.Sprintf("10.0.%d.%d/32", i/250, i%250))
	}
	declared := openings(many...)
	var err error
	for left := 1; left > 0; {
		if _, left, err = h.keep(tool, declared); err != nil && left == 0 && !strings.Contains(err.Error(), "2000 of 2001") {
			t.Fatalf("expected the number of rules, got %v", err)
		}
	}
	if err == nil || len(h.rules["public"]) != mostRules+1 {
		t.Errorf("expected %d rules and an error, got %d, %v", mostRules, len(h.rules["public"])-1, err)
	}
}

func TestRulesHaveTheFormInWhichFirewalldListsThem(t *testing.T) {
	for want, o := range map[string]opening.Opening{
		mark + "accept": {},
		mark + `family="ipv4" source address="10.2.0.7/32" accept`: {From: netip.MustParsePrefix("10.2.0.7/32")},
		mark + `family="ipv6" source address="fd00::/8" port port="31000-31999" protocol="udp" accept`: {
			From: netip.MustParsePrefix("fd00::/8"), Ports: nodefirewall.Ports{Protocol: nodefirewall.UDP, First: 31000, Last: 31999}},
		mark + `port port="9000" protocol="sctp" accept`: {Ports: nodefirewall.Ports{Protocol: nodefirewall.SCTP, First: 9000, Last: 9000}},
	} {
		if got := rule(o); got != want {
			t.Errorf("expected %s, got %s", want, got)
		}
	}
}
