// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import "fmt"

// part is one of several parts of all cases. A case's part depends only on its name, since its position in the list of
// cases can change: the list has an entry for every write of a reference run, and their number varies a little.
type part struct{ number, of uint64 }

// parsePart reads "2/5", the second of five parts. For "" all cases are in one part.
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

// has reports whether a case belongs to the part.
func (p part) has(name string) bool { return hash(name)%p.of == p.number-1 }
