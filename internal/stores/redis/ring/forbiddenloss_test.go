// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// force allows a forced failover only for a replica that the other primaries can elect and that does not request votes
// by itself.
func (j judge) force(step redis.ForceFailover) string {
	status := j.Nodes[step.Address]
	_, primaryAnswers := j.answering()[status.PrimaryID]
	_, mayRun := j.silent()
	switch answer, all := j.voters(); {
	case status.Role != redis.Replica || !status.Unlinked:
		return "it is no replica that was restarted"
	case primaryAnswers:
		return "its primary answers"
	case mayRun > 0:
		return "its primary may still run"
	case j.mayReturn():
		return "its primary may come back with more"
	case answer*2 <= all:
		return "no majority can elect it"
	}
	return j.inherits(status)
}

// inherits returns why a replica must not become the primary of a shard for good; "" if it may.
func (j judge) inherits(status redis.NodeStatus) string {
	if status.Unlinked && status.Keys == 0 {
		return "it has never had the data"
	}
	for _, other := range j.answering() {
		if other.PrimaryID == status.PrimaryID && other.Offset > status.Offset {
			return "another has more of the writes"
		}
	}
	return ""
}

// mayBeForgotten reports whether a server that is gone may be forgotten: no server has a copy of its data, and the user
// has accepted that the data of all its slots is lost.
func (j judge) mayBeForgotten(id string) bool {
	if _, mayRun := j.silent(); mayRun > 0 || j.mayReturn() {
		return false
	}
	for _, status := range j.answering() {
		if status.Role == redis.Replica && status.PrimaryID == id && (!status.Unlinked || status.Keys > 0) {
			return false
		}
	}
	had := j.had(id)
	for _, status := range j.answering() {
		had = had.Without(status.Slots)
	}
	return len(had) > 0 && len(had.Without(j.ring.GivenUp)) == 0
}

// had returns the slots of a server that is gone, as the other servers list them.
func (j judge) had(id string) redis.Slots {
	var out []int
	for _, status := range j.answering() {
		if peer, ok := status.Peer(id); ok {
			out = append(out, peer.Slots.Numbers()...)
		}
	}
	return redis.SlotsOf(out...)
}

// giveUp checks a step that makes servers forget a primary with slots.
func (j judge) giveUp(step redis.Forget) string {
	if all, _ := j.followers(step.ID); all > 0 {
		return "a replica cannot forget its primary"
	}
	for _, status := range j.answering() {
		_, answers := j.answering()[status.PrimaryID]
		lost := status.Role == redis.Replica && !answers && (!status.Unlinked || status.Keys > 0) && len(j.had(status.PrimaryID)) > 0
		if lost && j.alone(status.PrimaryID) {
			return "an election may be going on"
		}
		if _, listed := status.Peer(step.ID); listed && !slices.Contains(step.At, j.address(status.ID)) {
			return "a process would go on mentioning it to others"
		}
	}
	return ""
}

// alone reports whether a server that is gone had slots that no other server serves.
func (j judge) alone(id string) bool {
	had := j.had(id)
	for _, status := range j.answering() {
		had = had.Without(status.Slots)
	}
	return len(had) > 0
}

func (j judge) address(id string) string {
	for address, status := range j.Nodes {
		if status.ID == id {
			return address
		}
	}
	return ""
}
