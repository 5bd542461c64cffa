// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"net/netip"
	"slices"
)

// Sources are ranges of addresses of both families. They are sorted, and neither overlap nor touch, because the kernel
// refuses such sets.
type Sources struct{ V4, V6 []Range }

// Range has the addresses from First to Last.
type Range struct{ First, Last netip.Addr }

// SourcesOf returns the ranges of some prefixes.
func SourcesOf(prefixes []netip.Prefix) Sources {
	var out Sources
	for _, p := range prefixes {
		if !p.IsValid() {
			continue
		}
		r := Range{p.Masked().Addr(), last(p)}
		if p.Addr().Is4() {
			out.V4 = append(out.V4, r)
		} else {
			out.V6 = append(out.V6, r)
		}
	}
	return Sources{join(out.V4), join(out.V6)}
}

// join sorts ranges, and joins those that overlap or touch.
func join(ranges []Range) []Range {
	slices.SortFunc(ranges, func(a, b Range) int { return a.First.Compare(b.First) })
	var out []Range
	for _, r := range ranges {
		if n := len(out); n > 0 && touches(out[n-1], r) {
			if out[n-1].Last.Less(r.Last) {
				out[n-1].Last = r.Last
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// touches reports whether the second range begins inside the first, or directly after it.
func touches(a, b Range) bool {
	next := a.Last.Next()
	return !next.IsValid() || b.First.Compare(next) <= 0
}

// last returns the last address of a prefix.
func last(p netip.Prefix) netip.Addr {
	bytes := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(bytes)*8; i++ {
		bytes[i/8] |= 1 << (7 - i%8)
	}
	out, _ := netip.AddrFromSlice(bytes)
	return out
}
