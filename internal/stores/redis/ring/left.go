// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Left reports whether a surplus pod can be deleted: its servers are gone, or their data is not needed and the other
// servers do not know them. No pod is deleted while a silent server may come back with keys of slots that were being
// moved.
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

// isComplete reports whether no server is missing: the answering servers serve all slots and list no other server. If
// this is true, a silent server was never in the cluster, for example because its pod could not start.
func isComplete(in *input) bool {
	return in.served() && len(in.dead()) == 0 && in.election() == "" && !slices.ContainsFunc(in.primaries(), (*proc).open)
}
