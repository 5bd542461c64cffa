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
const comment = "opcrew"

// rule is a rule as ufw show added lists it.
type rule struct {
	action  string // such as allow
	packets string // such as "from 10.0.0.0/8 to any port 80 proto tcp"
	ours    bool
}

// parseRules parses the output of ufw show added. A line such as "ufw deny in on eth0 ..." is a rule of the
// administrator, as are all with another comment.
func parseRules(text string) []rule {
	var out []rule
	for line := range strings.Lines(text) {
		rest, is := strings.CutPrefix(strings.TrimSpace(line), "ufw ")
		if !is {
			continue
		}
		rest, remark, _ := strings.Cut(rest, " comment ")
		action, packets, _ := strings.Cut(rest, " ")
		out = append(out, rule{action, packets, remark == "'"+comment+"'"})
	}
	return out
}

// packets returns the packets of an opening as ufw lists them; false if ufw has no rules for them.
func packets(o opening.Opening) (string, bool) {
	from, ports := source(o), o.Ports
	switch {
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
	case !o.From.IsValid() || o.From.Bits() == 0:
		return ""
	case o.From.IsSingleIP():
		return o.From.Addr().String()
	}
	return o.From.String()
}
