// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Left reports whether a pod that is no longer wanted can be deleted: its processes hold nothing that is needed, and no process
// knows them any more. A process that is gone is not waited for. No pod leaves while a process may come back with keys of slots
// that were on their way: it is not known then whose place that process had.
func Left(view redis.View, wanted Ring, pod int) bool {
	in := survey(view, wanted)
	if view.Err != nil || view.Stale || pod < wanted.Nodes || pod >= len(wanted.Pods) {
		return false
	}
	if len(in.keepers()) > 0 && slices.ContainsFunc(in.openSlots(), func(slot int) bool { return awaits(in.processes, slot) }) {
		return false
	}
	for _, p := range in.all[2*pod : 2*pod+2] {
		if p.gone || !p.answers && isComplete(in) {
			continue
		}
		if !p.answers || !p.status.Fresh() || forgetLeft(in.members(), p).step != nil {
			return false
		}
	}
	return len(in.answering()) > 0 && len(in.lost) == 0
}

// isComplete reports whether no process is missing from the cluster: those that answer serve all slots and know of no other. A
// process that does not answer has never been in the cluster, such as one in a pod that could not start.
func isComplete(in *input) bool {
	return in.served() && len(in.dead()) == 0 && in.election() == "" && !slices.ContainsFunc(in.primaries(), (*proc).open)
}
