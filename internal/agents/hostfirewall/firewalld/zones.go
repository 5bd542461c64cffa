// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewalld

import (
	"regexp"
	"strings"
)

// zone is what opcrew reads of a zone.
type zone struct {
	name, target string
	active       bool
	interfaces   bool
	rules        []string // those of opcrew
}

// parseZones parses the output of firewall-cmd --list-all-zones.
func parseZones(text string) []zone {
	var out []zone
	ours := form()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			name, attributes, _ := strings.Cut(line, " ")
			out = append(out, zone{name: name, active: strings.Contains(attributes, "active")})
		} else if len(out) > 0 {
			out[len(out)-1].read(strings.TrimSpace(line), ours)
		}
	}
	return out
}

func (z *zone) read(line string, ours *regexp.Regexp) {
	key, value, _ := strings.Cut(line, ":")
	switch value = strings.TrimSpace(value); {
	case ours.MatchString(line):
		z.rules = append(z.rules, line)
	case key == "target":
		z.target = value
	case key == "interfaces":
		z.interfaces = value != ""
	}
}

// opens reports whether opcrew adds rules to the zone. A zone that accepts everything needs none. A zone that rejects
// and has only sources is how administrators ban addresses.
func (z *zone) opens(defaultZone string) bool {
	switch {
	case z.target == "ACCEPT":
		return false
	case z.name == defaultZone:
		return true
	}
	return z.active && (z.interfaces || z.target == "default")
}
