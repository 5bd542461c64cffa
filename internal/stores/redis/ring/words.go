// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// most is how many items a message lists. The number of remaining items follows.
const most = 4

func list[T fmt.Stringer](items []T) string {
	var out []string
	for _, item := range items[:min(len(items), most)] {
		out = append(out, item.String())
	}
	if more := len(items) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

func brief(slots redis.Slots) string { return list(slots) }

// size formats a number of bytes, such as 1.5 MiB.
func size(bytes int64) string {
	const unit = 1024
	value, name := float64(bytes), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < unit && value > -unit {
			break
		}
		value, name = value/unit, next
	}
	if name == "B" {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, name)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
