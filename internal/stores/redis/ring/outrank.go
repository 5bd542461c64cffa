// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// outrank raises the epoch of a primary if another server still lists the primary's replica as a primary with a higher
// epoch. Since 9.1, Valkey ignores all that such a replica reports (valkey-io/valkey#2811), so that the server would
// never learn the replica's role. Once the primary has a higher epoch, the server accepts its replica's reports.
func outrank(in *input) verdict {
	for _, replica := range in.members() {
		primary := in.byID[replica.status.PrimaryID]
		if primary == nil || !primary.primary() {
			continue
		}
		for _, p := range in.members() {
			peer, listed := p.status.Peer(replica.id())
			if listed && peer.Role == redis.Primary && peer.ConfigEpoch > primary.status.ConfigEpoch {
				return take(redis.RaiseEpoch{Address: primary.Address}, "raise the epoch of %s: %s still lists its replica, %s, as a primary", primary, p, replica)
			}
		}
	}
	return verdict{}
}
