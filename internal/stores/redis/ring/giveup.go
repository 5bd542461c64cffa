// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "github.com/opcrew/opcrew/internal/stores/redis"

// giveUp removes lost primaries whose data has been given up, which leaves their slots without an owner.
func giveUp(in *input) verdict {
	var out verdict
	for _, id := range sortedKeys(in.lost) {
		if in.isGivenUp(id) {
			out.add(forgetLost(in, id))
		}
	}
	return out
}

// forgetLost has all processes forget a lost primary. A replica cannot forget its own primary and gets another one first. While
// a replica is to be elected, all that count votes must keep counting the same primaries.
func forgetLost(in *input, id string) verdict {
	slots := brief(in.lost[id])
	for _, other := range sortedKeys(in.lost) {
		if heir := in.heir(other); heir != nil {
			return refuse(Election, "slots %s are given up once %s leads", slots, heir)
		}
	}
	if follows := in.followers(id); len(follows) > 0 {
		return refuse(Election, "slots %s are given up once %s, which is empty, has another primary", slots, follows[0])
	}
	at := in.where(func(p *proc) bool { return p.answers && p.lists(id) })
	return take(redis.Forget{ID: id, At: addresses(at)}, "give up slots %s: forget their primary %s", slots, id)
}
