// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
)

var (
	rounds    = flag.Int("rounds", 3, "how often either side creates a cluster, and moves slots")
	keys      = flag.Int("keys", 200_000, "how many keys a cluster has whose slots are moved")
	failovers = flag.Int("failovers", 5, "how often a primary is killed")
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// took contains measured durations, one for each round of a comparison or for each failover.
type took []time.Duration

func (t took) median() time.Duration {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[len(sorted)/2]
}

// String formats the median, the minimum and the maximum.
func (t took) String() string {
	return fmt.Sprintf("%.1f s (%.1f to %.1f)", t.median().Seconds(), slices.Min(t).Seconds(), slices.Max(t).Seconds())
}

// ratios formats the ratio of the durations a to the durations b. It computes a ratio for each round, because other
// load on the machine changes between rounds.
func ratios(a, b took) string {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i].Seconds() / b[i].Seconds()
	}
	slices.Sort(out)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", out[len(out)/2], out[0], out[len(out)-1])
}

// inTurns runs the sides of a comparison alternately, so that other load on the machine affects them equally.
func inTurns(t *testing.T, sides ...func(*testing.T) time.Duration) []took {
	t.Helper()
	out := make([]took, len(sides))
	for range *rounds {
		for i, side := range sides {
			// Run each side of the comparison as a subtest, so that its servers are stopped when the subtest ends.
			ok := t.Run("", func(t *testing.T) { out[i] = append(out[i], side(t)) })
			if !ok {
				t.FailNow()
			}
		}
	}
	return out
}
