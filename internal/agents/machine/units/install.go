// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"slices"
	"strings"
)

// Install returns the settings of the [Install] sections of a unit file and its drop-ins, one per line and in a
// canonical form; an empty text if there are none. While a unit is enabled, systemd has links that these settings name.
func Install(files ...string) string {
	var settings []string
	for _, file := range files {
		settings = append(settings, installSettings(file)...)
	}
	return strings.Join(settings, "\n")
}

// OnlyOthers reports whether settings, as Install returns them, only enable other units. systemctl calls such a unit
// indirect, before and after it was enabled.
func OnlyOthers(settings string) bool {
	others := false
	for line := range strings.Lines(settings) {
		switch key, _, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "WantedBy", "RequiredBy", "UpheldBy", "Alias":
			return false
		case "Also":
			others = true
		}
	}
	return others
}

func installSettings(file string) (settings []string) {
	inside := false
	for _, line := range logicalLines(file) {
		switch {
		case strings.HasPrefix(line, "["):
			inside = line == "[Install]"
		case inside && strings.Contains(line, "="):
			key, value, _ := strings.Cut(line, "=")
			settings = append(settings, strings.TrimSpace(key)+"="+strings.Join(strings.Fields(value), " "))
		}
	}
	return settings
}

// logicalLines returns the lines of a unit file without comments, and joins lines that end with a backslash. A comment
// between joined lines does not separate them.
func logicalLines(file string) []string {
	var lines []string
	joins := false
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" && !joins || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		text, continues := strings.CutSuffix(line, `\`)
		if joins {
			lines[len(lines)-1] += " " + text
		} else {
			lines = append(lines, text)
		}
		joins = continues
	}
	return slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
}
