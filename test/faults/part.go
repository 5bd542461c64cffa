// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import "fmt"

// part is one of several parts into which all cases are divided, so that one run of the tests need not execute all. The
// name of a case determines its part. The position in the list of cases cannot determine it, because the list depends
// on the number of writes, which varies.
type part struct{ number, of uint64 }

// parsePart parses "2/5" as the second of five parts. For "", it returns one part with all cases.
func parsePart(text string) (p part, err error) {
	if text == "" {
		return part{1, 1}, nil
	}
	if _, err := fmt.Sscanf(text, "%d/%d", &p.number, &p.of); err != nil || text != p.String() || p.number < 1 || p.number > p.of {
		return part{}, fmt.Errorf("-faults.part is %q: write 2/5 for the second of five parts", text)
	}
	return p, nil
}

func (p part) String() string { return fmt.Sprintf("%d/%d", p.number, p.of) }

// has reports whether the case with this name belongs to the part.
func (p part) has(name string) bool { return hash(name)%p.of == p.number-1 }
