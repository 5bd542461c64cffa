// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// forget removes the IDs of lost servers from the node tables. All servers must answer, because one of these IDs may
// belong to a silent server. A lost primary stays listed while its replica waits for votes, because the election needs
// that entry.
func forget(in *input) verdict {
	dead := in.dead()
	if len(dead) == 0 || len(in.silent()) > 0 {
		return verdict{}
	}
	if reason := in.election(); reason != "" {
		return refuse(Election, "%d IDs of lost servers stay in the cluster's node tables: %s", len(dead), reason)
	}
	for _, id := range sortedKeys(dead) {
		if slots := in.claimed(id); len(slots) > 0 {
			return refuse(Agreement, "some servers still list %s as the owner of slots %s", id, brief(slots))
		}
	}
	id := sortedKeys(dead)[0]
	return take(redis.Forget{ID: id, At: dead[id]}, "forget %s: no server has this ID any more", id)
}
