// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// AdvanceLog makes all members write a snapshot. To do this, it writes log entries that change no data until there are
// enough for a snapshot.
func AdvanceLog(in *Input) steps.Verdict {
	count, known := entriesBetween(in.Env)
	if !known || count > maxCount {
		return steps.Verdict{Waits: fmt.Sprintf(
			"%s in spec.pod.etcdEnv to be %d or less: the members' logs may contain entries from before etcd 3.6, which %s cannot read, and a member writes a snapshot only after that many more entries",
			countVariable, maxCount, in.Target)}
	}
	out := steps.Verdict{Waits: "the members to write a snapshot that etcd " + versions.MinorOf(in.Target) + " can start from"}
	// The status must first record From: the last log index at which an entry may have the format of etcd 3.5.
	if in.From == 0 {
		return out
	}
	from, needed := uint64(in.From), count+margin
	out.Waits += fmt.Sprintf(" (%d%% done)", min(9, (in.leastApplied(from)-from)*10/needed)*10)
	if in.Refused != "" {
		out.Waits += ": " + in.Refused
	}
	if goal, last := from+needed+lag, lastIndex(in.View); last < goal {
		out.Step = steps.Advance(goal - last)
	}
	return out
}

// leastApplied returns the last log index that all members have applied. It never returns less than the given index
// (from), at which opcrew starts to count.
func (in *Input) leastApplied(from uint64) uint64 {
	var out []uint64
	for _, m := range in.Members {
		out = append(out, m.Status.Applied)
	}
	return max(from, slices.Min(out))
}
