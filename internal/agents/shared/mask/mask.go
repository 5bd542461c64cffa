// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mask replaces secret values in texts and streams. Its callers provide the values.
package mask

import (
	"slices"
	"strings"
)

const (
	masked = "***"
	// shortest is the minimum length of a value to mask, because shorter values would match everywhere.
	shortest = 4
)

// Masker replaces secret values in a stream by ***. It also finds values that overlap, and values that are split across
// chunks. It holds back bytes that may be the start of a value, until the next bytes decide.
type Masker struct {
	needles []*needle
	held    []byte
	// ends holds for each held byte the length of the longest value that ends with this byte.
	ends  []int
	until bool // whether the last released byte belonged to a secret value
}

// needle searches for one value with the Knuth-Morris-Pratt algorithm, which reads each byte once. matched is the
// length of the longest prefix of the value that is also a suffix of the stream so far.
type needle struct {
	value   string
	back    []int
	matched int
}

// New returns a Masker for these values. It masks each value as a whole, and each line of a value. It compares bytes,
// so it works with any encoding.
func New(values ...string) *Masker {
	m := &Masker{}
	for _, value := range values {
		// Each line is masked too, because programs may print a key line by line.
		if lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }); len(lines) > 1 {
			values = append(values, lines...)
		}
	}
	for _, value := range values {
		// Values are masked without the final line break, because programs usually remove it.
		if trimmed := strings.TrimSpace(value); len(trimmed) >= shortest {
			value = trimmed
		}
		if len(value) >= shortest {
			m.needles = append(m.needles, newNeedle(value))
		}
	}
	return m
}

// newNeedle computes where to continue the search after a mismatch. back[i] is the length of the longest proper prefix
// of the value that is also a suffix of its first i bytes.
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

// next processes a byte, and reports whether an occurrence of the value ends with this byte.
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

// Write processes a chunk, and returns the part of the stream that can be released.
func (m *Masker) Write(chunk []byte) []byte {
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

// undecided returns how many of the last bytes may be the start of a secret value, which later bytes would complete.
func (m *Masker) undecided() int {
	most := 0
	for _, n := range m.needles {
		most = max(most, n.matched)
	}
	return most
}

// Flush returns the held bytes when the stream has ended.
func (m *Masker) Flush() []byte { return m.release(len(m.held)) }

// release returns the first n held bytes. It replaces each sequence of secret bytes by one mask.
func (m *Masker) release(n int) []byte {
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

// covered reports for each held byte whether it belongs to a secret value.
func (m *Masker) covered() []bool {
	out := make([]bool, len(m.held))
	reach := 0
	for i, end := range slices.Backward(m.ends) {
		reach = max(reach, end)
		out[i] = reach > 0
		reach--
	}
	return out
}

// Text returns a text with the values masked.
func Text(text string, values ...string) string {
	m := New(values...)
	return string(m.Write([]byte(text))) + string(m.Flush())
}
