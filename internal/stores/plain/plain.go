// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plain makes texts that a store has sent fit for a status and a log: they may be long, and have control characters.
package plain

import (
	"strings"
	"unicode"
)

// Line returns a text without control characters, and of at most so many bytes. It shares no memory with the text, which may
// be part of a large answer.
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

// Words reports whether a text has only printable ASCII characters and no blanks, and at most so many.
func Words(text string, most int) bool {
	return len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
