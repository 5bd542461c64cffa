// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

// mostRefusal is the longest text of a refusal that is kept: those of the servers have less.
const mostRefusal = 512

// mostWord is the longest ID, version or state: IDs have 40 characters.
const mostWord = 128

// word is a short text of a server, which shares no memory with its answer.
func word(text string) string { return plain.Line(text, mostWord) }

// Text is an answer as text; "" for any other answer.
func Text(answer any) string {
	s, _ := answer.(string)
	return s
}

// mostFields is how many lines of INFO are read, and mostInfo how many bytes. Servers have 200 lines, and up to 128 kinds of
// errors.
const mostFields, mostInfo = 4096, 256 << 10

// Fields reads lines of key:value, up to mostFields and mostInfo.
func Fields(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text[:min(len(text), mostInfo)]) {
		if len(out) == mostFields {
			break
		}
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[key] = value
		}
	}
	return out
}
