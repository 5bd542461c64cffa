// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import "unicode/utf8"

// tailSize leaves room in a result for everything else, as long as few characters of the
// tail need an escape.
const tailSize = 3 << 10

// tail keeps the last bytes of what is written to it.
type tail struct {
	ring  []byte
	total int64 // of bytes that were ever written
}

func newTail(size int) *tail { return &tail{ring: make([]byte, size)} }

func (t *tail) write(chunk []byte) {
	size := len(t.ring)
	t.total += int64(len(chunk))
	if excess := len(chunk) - size; excess > 0 {
		chunk = chunk[excess:]
	}
	at := int((t.total - int64(len(chunk))) % int64(size))
	n := copy(t.ring[at:], chunk)
	copy(t.ring, chunk[n:])
}

// cut says that more was written than is kept.
func (t *tail) cut() bool { return t.total > int64(len(t.ring)) }

// text is what is kept, from the first whole character.
func (t *tail) text() string {
	if !t.cut() {
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
