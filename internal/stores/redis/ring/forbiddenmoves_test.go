// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

func (j judge) takeLead(step redis.TakeLead) string {
	status := j.Nodes[step.Address]
	primary := j.answering()[status.PrimaryID]
	switch answer, all := j.voters(); {
	case j.Moving():
		return "slots are being moved"
	case status.Role != redis.Replica || !status.LinkUp:
		return "it is no replica in sync"
	case !primary.Leads():
		return "its primary does not lead"
	case len(primary.Migrating)+len(primary.Importing) > 0:
		return "some slots of its primary are being moved"
	case answer*2 <= all:
		return "no majority can elect it"
	}
	return ""
}

// voters returns how many slot owners answer, and how many there are.
func (j judge) voters() (answer, all int) {
	for id := range j.owners() {
		all++
		if _, ok := j.answering()[id]; ok {
			answer++
		}
	}
	return answer, all
}

func (j judge) takeover(step redis.Takeover) string {
	status := j.Nodes[step.Address]
	_, primaryAnswers := j.answering()[status.PrimaryID]
	_, mayRun := j.silent()
	switch answer, all := j.voters(); {
	case status.Role != redis.Replica:
		return "it is no replica"
	case primaryAnswers:
		return "its primary answers"
	case mayRun > 0:
		return "its primary may still run"
	case status.Unlinked && j.mayReturn():
		return "its primary may come back with more"
	case answer*2 > all && j.owners()[status.PrimaryID]:
		return "the others can elect it"
	}
	return j.inherits(status)
}

func (j judge) forget(step redis.Forget) string {
	status, answers := j.answering()[step.ID]
	if answers {
		if !status.Fresh() || j.pod(step.ID) < j.ring.Nodes {
			return "it is in the cluster"
		}
		return ""
	}
	if j.mayBeForgotten(step.ID) {
		return j.giveUp(step)
	}
	if silent, _ := j.silent(); silent > 0 {
		return "a process that does not answer may have this ID"
	}
	if all, _ := j.followers(step.ID); all > 0 {
		return "a replica follows it"
	}
	for _, other := range j.answering() {
		if peer, ok := other.Peer(step.ID); ok && len(peer.Slots) > 0 {
			return "it is said to own slots"
		}
	}
	for id := range j.owners() {
		if _, ok := j.answering()[id]; !ok {
			return "an election may be going on"
		}
	}
	return ""
}

func (j judge) pod(id string) int {
	for i, pod := range j.ring.Pods {
		if j.Nodes[pod.Home].ID == id || j.Nodes[pod.Guest].ID == id {
			return i
		}
	}
	return -1
}

func (j judge) cancel(step redis.CancelMove) string {
	status := j.Nodes[step.Address]
	for _, slot := range step.Slots.Numbers() {
		_, migrating := status.Migrating[slot]
		_, importing := status.Importing[slot]
		if !migrating && !importing {
			return fmt.Sprintf("slot %d is not open there", slot)
		}
		if status.Slots.Contains(slot) && !j.asksAll(step) {
			return "not all who may have keys of the slot are asked"
		}
	}
	return ""
}

func (j judge) asksAll(step redis.CancelMove) bool {
	for address, status := range j.Nodes {
		asked := slices.Contains(step.Others, redis.End{Address: address, ID: status.ID})
		if status.Answers() && status.Role == redis.Primary && address != step.Address && !asked {
			return false
		}
	}
	return true
}

func (j judge) move(step redis.MoveSlots) string {
	if j.Moving() {
		return "slots are moved already"
	}
	seen := map[int]bool{}
	gets := map[string]int64{}
	for _, move := range step.Moves {
		from, to := j.Nodes[move.From.Address], j.Nodes[move.To.Address]
		if !between(move, from, to) {
			return "it is not between two primaries that answer"
		}
		for _, slot := range move.Slots.Numbers() {
			_, open := to.Importing[slot]
			_, leaves := from.Migrating[slot]
			if seen[slot] || !from.Slots.Contains(slot) {
				return fmt.Sprintf("slot %d is not there to be moved", slot)
			}
			if j.pod(to.ID) >= j.ring.Nodes && !open && !leaves {
				return "a pod that leaves would get slots"
			}
			seen[slot] = true
		}
		gets[move.To.Address] += from.Dataset * int64(move.Slots.Len()) / int64(from.Slots.Len())
	}
	for address, bytes := range gets {
		if to := j.Nodes[address]; to.MaxMemory > 0 && to.UsedMemory+bytes > to.MaxMemory {
			return "there is no room for it"
		}
	}
	return ""
}

// open allows the step OpenSlots only for slots that one of the two servers already marks as moving. Other slots must
// not be moved.
func (j judge) open(step redis.OpenSlots) string {
	for _, move := range step.Moves {
		from, to := j.Nodes[move.From.Address], j.Nodes[move.To.Address]
		if j.Moving() || !between(move, from, to) {
			return "slots are moved, or it is not between two primaries that answer"
		}
		for _, slot := range move.Slots.Numbers() {
			_, importing := to.Importing[slot]
			_, migrating := from.Migrating[slot]
			if !from.Slots.Contains(slot) || !importing && !migrating {
				return fmt.Sprintf("slot %d is not there to be moved, or is not open", slot)
			}
		}
	}
	return ""
}

// between reports whether a move is between two different servers that can take part in it.
func between(move redis.Move, from, to redis.NodeStatus) bool {
	same := from.ID == move.From.ID && to.ID == move.To.ID && from.ID != to.ID
	return same && from.Answers() && to.Answers() && to.Role == redis.Primary
}

func (j judge) reset(step redis.ResetEmpty) string {
	status := j.Nodes[step.Address]
	all, _ := j.followers(step.ID)
	switch {
	case status.ID != step.ID || !status.Answers():
		return "it is another, or does not answer"
	case status.Keys > 0 || len(status.Slots) > 0:
		return "it would drop what it has"
	case all > 0:
		return "a replica follows it"
	case j.pod(step.ID) < j.ring.Nodes:
		return "it does not leave"
	}
	return ""
}
