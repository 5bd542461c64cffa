// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

// mostRefusal is how many bytes of a refusal's text are kept. Real servers send shorter texts.
const mostRefusal = 512

// mostWord is the maximum length of an ID, version or state, in bytes. IDs have 40 characters.
const mostWord = 128

// word returns a short text from a server. It shares no memory with the server's answer.
func word(text string) string { return plain.Line(text, mostWord) }

// Text returns an answer that is a string; "" for any other answer.
func Text(answer any) string {
	s, _ := answer.(string)
	return s
}

// mostFields is how many lines of INFO are read, and mostInfo how many bytes. Real servers send 200 lines, plus up to
// 128 kinds of errors.
const mostFields, mostInfo = 4096, 256 << 10

// Fields parses lines of the form key:value, up to the limits mostFields and mostInfo.
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
