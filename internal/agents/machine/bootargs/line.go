// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bootargs

import (
	"slices"
	"strings"
)

// Edit returns a kernel command line without the arguments to remove, and with those to add that it lacks. All other
// arguments stay as they are.
func Edit(line string, add, remove []string) string {
	if len(Missing(line, add, remove)) == 0 {
		return line
	}
	kept := slices.DeleteFunc(Split(line), func(a string) bool { return slices.Contains(remove, a) })
	for _, argument := range add {
		if !slices.Contains(kept, argument) {
			kept = append(kept, argument)
		}
	}
	return strings.Join(kept, " ")
}

// Missing returns what a kernel command line must gain or lose, such as "quiet must be removed".
func Missing(line string, add, remove []string) (out []string) {
	has := Split(line)
	for _, argument := range add {
		if !slices.Contains(has, argument) {
			out = append(out, argument+" is missing")
		}
	}
	for _, argument := range remove {
		if slices.Contains(has, argument) {
			out = append(out, argument+" must be removed")
		}
	}
	return out
}

// Split returns the arguments of a kernel command line. Like the kernel, it keeps spaces between double quotes.
func Split(line string) (out []string) {
	start, quoted := -1, false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t' || c == '\n') && !quoted:
			if start >= 0 {
				out = append(out, line[start:i])
			}
			start = -1
			continue
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		out = append(out, line[start:])
	}
	return out
}
