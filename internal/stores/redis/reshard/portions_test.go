// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"slices"
	"testing"
)

func TestSlotsAreCutIntoPortionsByTheirKeys(t *testing.T) {
	for name, test := range map[string]struct {
		keys  []int64
		bytes int64
		want  []int // expected number of slots in each group
	}{
		"no slot has a key":         {keys: make([]int64, 5), want: []int{5}},
		"more than may be open":     {keys: make([]int64, slotsTogether+1), want: []int{slotsTogether, 1}},
		"each has as many":          {keys: []int64{5, 5, 5, 5}, bytes: 200, want: []int{2, 2}},
		"one has more than all may": {keys: []int64{1, 18, 0, 0, 1}, bytes: 200, want: []int{1, 1, 3}},
		"empty ones go with others": {keys: []int64{10, 0, 0, 10}, bytes: 200, want: []int{3, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			slots := make([]int, len(test.keys))
			for i := range slots {
				slots[i] = i
			}
			var got []int
			next := 0
			for _, portion := range cut(slots, test.keys, test.bytes, 100) {
				got = append(got, len(portion))
				if portion[0] != next {
					t.Errorf("expected slot %d to be next, got %d", next, portion[0])
				}
				next += len(portion)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("expected portions of %v slots, got %v", test.want, got)
			}
		})
	}
}
