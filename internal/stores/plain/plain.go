// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plain makes texts from Redis or etcd safe for a status or a log. Such texts may be long and contain control
// characters.
package plain

import (
	"strings"
	"unicode"
)

// Line returns a text without control characters. It cuts the text to the length most in bytes, and copies it, so that
// a large answer does not stay in memory.
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

// Words reports whether a text has only printable ASCII characters without blanks, and at most the length most in
// bytes.
func Words(text string, most int) bool {
	return len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
