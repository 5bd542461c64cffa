// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plain makes texts from Redis or etcd safe for a status or a log. Such texts may be long and contain control
// characters.
package plain

import (
	"strings"
	"unicode"
)

// Line returns a text without control characters, cut to the limit (most, in bytes). The result is a copy, so that a
// large reply that contained the text does not stay in memory.
func Line(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.Clone(strings.ToValidUTF8(text, "")))
}

// Words reports whether a text is not longer than the limit (most, in bytes), and consists only of printable ASCII
// characters other than blanks.
func Words(text string, most int) bool {
	return len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
