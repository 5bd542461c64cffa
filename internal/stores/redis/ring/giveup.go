// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// giveUp removes lost primaries from the cluster if the user has accepted the loss of their data. Their slots then have
// no owner.
func giveUp(in *input) verdict {
	var out verdict
	for _, id := range sortedKeys(in.lost) {
		if in.isGivenUp(id) {
			out.add(forgetLost(in, id))
		}
	}
	return out
}

// forgetLost makes all servers forget a lost primary. A replica cannot forget its own primary, so forgetLost waits
// until no replica follows the lost primary. It also waits while an election is possible, because all voters must count
// the same primaries.
func forgetLost(in *input, id string) verdict {
	slots := brief(in.lost[id])
	for _, other := range sortedKeys(in.lost) {
		if heir := in.heir(other); heir != nil {
			return refuse(Election, "slots %s are given up once %s has become a primary", slots, heir)
		}
	}
	if follows := in.followers(id); len(follows) > 0 {
		return refuse(Election, "slots %s are given up once the empty replica %s has another primary", slots, follows[0])
	}
	at := in.where(func(p *proc) bool { return p.answers && p.lists(id) })
	return take(redis.Forget{ID: id, At: addresses(at)}, "give up the lost data of slots %s: forget their primary %s", slots, id)
}
