// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ufw

import (
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/hostfirewall/opening"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// comment marks the rules of opcrew.
const comment = "opcrew hostFirewall"

// rule is a rule as ufw show added lists it.
type rule struct {
	action  string // such as allow
	packets string // such as "from 10.0.0.0/8 to any port 80 proto tcp"
	ours    bool
}

// parseRules parses the output of ufw show added. For ufw, a rule that logs is about the same packets as one that does
// not.
func parseRules(text string) []rule {
	var out []rule
	for line := range strings.Lines(text) {
		rest, is := strings.CutPrefix(strings.TrimSpace(line), "ufw ")
		if !is {
			continue
		}
		rest, remark, _ := strings.Cut(rest, " comment ")
		action, all, _ := strings.Cut(rest, " ")
		packets := strings.TrimPrefix(strings.TrimPrefix(all, "log-all "), "log ")
		ours := action == "allow" && remark == "'"+comment+"'" && packets == all
		out = append(out, rule{action, packets, ours})
	}
	return out
}

// packets returns the packets of an opening as ufw lists them; false if ufw has no rules for them. It lists a rule for
// all addresses of one family in the same way as a rule for those of both.
func packets(o opening.Opening) (string, bool) {
	from, ports := source(o), o.Ports
	switch {
	case o.From.IsValid() && o.From.Bits() == 0:
		return "", false
	case ports.Protocol == "":
		if from == "" {
			return "to any", true
		}
		return "from " + from, true
	case ports.Protocol != nodefirewall.TCP && ports.Protocol != nodefirewall.UDP:
		return "", false
	}
	port := fmt.Sprint(ports.First)
	if ports.Last != ports.First {
		port = fmt.Sprintf("%d:%d", ports.First, ports.Last)
	}
	protocol := strings.ToLower(ports.Protocol)
	if from == "" {
		return port + "/" + protocol, true
	}
	return "from " + from + " to any port " + port + " proto " + protocol, true
}

// source returns a source as ufw lists it: "" for all, and an address instead of a range of one.
func source(o opening.Opening) string {
	switch {
	case !o.From.IsValid():
		return ""
	case o.From.IsSingleIP():
		return o.From.Addr().String()
	}
	return o.From.String()
}
