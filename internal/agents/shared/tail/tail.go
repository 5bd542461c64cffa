// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tail keeps the end of what a program prints.
package tail

import "unicode/utf8"

// Tail keeps the last bytes of what is written to it. Of one user at a time.
type Tail struct {
	ring  []byte
	total int64 // of bytes that were ever written
}

// New is a Tail of at most size bytes.
func New(size int) *Tail { return &Tail{ring: make([]byte, size)} }

// Write cannot fail.
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

// Cut says that more was written than is kept.
func (t *Tail) Cut() bool { return t.total > int64(len(t.ring)) }

// Text is what is kept, from the first whole character.
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
