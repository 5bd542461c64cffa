// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// lowestVersion returns the lowest version that any server runs, such as "7.0.15" or "valkey 8.1.3"; "" if none is
// known.
func lowestVersion(all observed.Servers) string {
	var low redis.Version
	for _, s := range all {
		if s.Version.Number != "" && (low.Number == "" || compare(s.Version.Number, low.Number) < 0) {
			low = s.Version
		}
	}
	if low.Valkey {
		return "valkey " + low.Number
	}
	return low.Number
}

// compare compares two versions number by number. It returns a negative number if a is lower than b.
func compare(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Compare(x, y)
	})
}
