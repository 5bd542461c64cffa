// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tree

import "testing"

func TestTheProcessTableIsReadWithAnyNamesOfProcesses(t *testing.T) {
	const rest = " 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1 2"
	for text, want := range map[string]process{
		"42 (sh) S 7" + rest:         {42, 7, "12345", false},
		"42 (a b) S 7) Z 9" + rest:   {42, 9, "12345", true},
		"42 (\n) R 1 (x) X 9" + rest: {42, 9, "12345", true},
		"42 (sh) S":                  {},
		"42 (sh) S seven" + rest:     {},
		"":                           {},
		"no parentheses at all":      {},
	} {
		got, ok := parseStat(text)
		if ok != (want != process{}) || ok && got != want {
			t.Errorf("%q: expected %+v, got %+v (%v)", text, want, got, ok)
		}
	}
}
