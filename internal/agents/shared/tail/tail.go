// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tail keeps the end of a program's output in memory.
package tail

import "unicode/utf8"

// Tail keeps the last bytes that were written to it. It is not safe for concurrent use.
type Tail struct {
	ring  []byte
	total int64 // number of bytes written so far
}

// New returns a Tail that keeps at most size bytes.
func New(size int) *Tail { return &Tail{ring: make([]byte, size)} }

// Write appends a chunk. It never fails.
func (t *Tail) Write(chunk []byte) (int, error) {
	written, size := len(chunk), len(t.ring)
	t.total += int64(written)
	if excess := written - size; excess > 0 {
		chunk = chunk[excess:]
	}
	at := int((t.total - int64(len(chunk))) % int64(size))
	n := copy(t.ring[at:], chunk)
	copy(t.ring, chunk[n:])
	return written, nil
}

// Cut reports whether more bytes were written than the Tail keeps.
func (t *Tail) Cut() bool { return t.total > int64(len(t.ring)) }

// Text returns the kept bytes, starting at the first complete character.
func (t *Tail) Text() string {
	if !t.Cut() {
		return string(t.ring[:t.total])
	}
	at := int(t.total % int64(len(t.ring)))
	text := string(t.ring[at:]) + string(t.ring[:at])
	for i := range min(len(text), utf8.UTFMax) {
		if utf8.RuneStart(text[i]) {
			return text[i:]
		}
	}
	return text
}
