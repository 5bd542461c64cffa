// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"slices"
	"strings"
)

const (
	masked = "***"
	// shortest is how long a value must be to be masked: shorter ones are found everywhere.
	shortest = 4
)

// masker replaces values of Secrets in a stream. Whatever a value covers becomes ***, also
// where values overlap, and also across the borders of chunks: what could be the beginning
// of a value is held back until the next bytes decide.
type masker struct {
	needles []*needle
	held    []byte
	// ends has, for each held byte, the length of the longest value that ends with it.
	ends  []int
	until bool // the last byte that was given out belonged to a value
}

// needle is looked for by Knuth, Morris and Pratt: each byte is looked at once, and matched
// is always how many bytes of the value the stream ends with, if not all.
type needle struct {
	value   string
	back    []int
	matched int
}

func newMasker(values ...string) *masker {
	m := &masker{}
	for _, value := range values {
		// A program may well print a key line by line.
		if lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }); len(lines) > 1 {
			values = append(values, lines...)
		}
	}
	for _, value := range values {
		// Files end with a line break that programs cut off before they use the value.
		if trimmed := strings.TrimSpace(value); len(trimmed) >= shortest {
			value = trimmed
		}
		if len(value) >= shortest {
			m.needles = append(m.needles, newNeedle(value))
		}
	}
	return m
}

// newNeedle computes where to go on when a byte does not match: back[i] is how long the
// longest beginning of the value is that its first i bytes end with.
func newNeedle(value string) *needle {
	n := &needle{value: value, back: make([]int, len(value)+1)}
	for i, k := 1, 0; i < len(value); i++ {
		for k > 0 && value[i] != value[k] {
			k = n.back[k]
		}
		if value[i] == value[k] {
			k++
		}
		n.back[i+1] = k
	}
	return n
}

// next takes a byte and reports whether the value ends with it.
func (n *needle) next(b byte) bool {
	for n.matched > 0 && n.value[n.matched] != b {
		n.matched = n.back[n.matched]
	}
	if n.value[n.matched] == b {
		n.matched++
	}
	if n.matched < len(n.value) {
		return false
	}
	n.matched = n.back[n.matched]
	return true
}

// write takes a chunk and gives what can be informed of the stream by now.
func (m *masker) write(chunk []byte) []byte {
	if len(m.needles) == 0 {
		return chunk
	}
	for _, b := range chunk {
		end := 0
		for _, n := range m.needles {
			if n.next(b) {
				end = max(end, len(n.value))
			}
		}
		m.held, m.ends = append(m.held, b), append(m.ends, end)
	}
	return m.release(len(m.held) - m.undecided())
}

// undecided is how many bytes at the end may be the beginning of a value.
func (m *masker) undecided() int {
	most := 0
	for _, n := range m.needles {
		most = max(most, n.matched)
	}
	return most
}

// flush gives what was held back, at the end of the stream.
func (m *masker) flush() []byte { return m.release(len(m.held)) }

// release gives out the first n held bytes, each run of covered ones as one mask.
func (m *masker) release(n int) []byte {
	covered := m.covered()
	var out []byte
	for i, b := range m.held[:n] {
		switch {
		case !covered[i]:
			out = append(out, b)
		case !m.until:
			out = append(out, masked...)
		}
		m.until = covered[i]
	}
	m.held, m.ends = slices.Delete(m.held, 0, n), slices.Delete(m.ends, 0, n)
	return out
}

// covered reports each held byte whether it belongs to a value.
func (m *masker) covered() []bool {
	out := make([]bool, len(m.held))
	reach := 0
	for i, end := range slices.Backward(m.ends) {
		reach = max(reach, end)
		out[i] = reach > 0
		reach--
	}
	return out
}

// mask is a whole text without the values.
func mask(text string, values ...string) string {
	m := newMasker(values...)
	return string(m.write([]byte(text))) + string(m.flush())
}
