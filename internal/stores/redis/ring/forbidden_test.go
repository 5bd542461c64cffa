// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// judge checks that a step causes no harm, independently of the rules in package ring. It uses only the view and the
// desired state.
type judge struct {
	redis.View
	ring ring.Ring
}

// forbidden returns why a step must not be taken; "" if it may be.
func forbidden(view redis.View, wanted ring.Ring, step redis.Step) string { //nolint:gocyclo // a list, one line each
	j := judge{view, wanted}
	switch step := step.(type) {
	case redis.SetEpoch:
		return j.setEpoch(step)
	case redis.RaiseEpoch:
		return j.raiseEpoch(step)
	case redis.AssignSlots:
		return j.assign(step)
	case redis.Admit:
		return j.admit(step)
	case redis.Replicate:
		return j.replicate(step)
	case redis.TakeLead:
		return j.takeLead(step)
	case redis.Takeover:
		return j.takeover(step)
	case redis.ForceFailover:
		return j.force(step)
	case redis.Forget:
		return j.forget(step)
	case redis.CancelMove:
		return j.cancel(step)
	case redis.MoveSlots:
		return j.move(step)
	case redis.OpenSlots:
		return j.open(step)
	case redis.ResetEmpty:
		return j.reset(step)
	case redis.Renew:
		if !j.Nodes[step.Address].Fresh() {
			return step.Address + " is in a cluster, or holds something"
		}
	}
	return ""
}

func (j judge) answering() map[string]redis.NodeStatus {
	out := map[string]redis.NodeStatus{}
	for _, status := range j.Nodes {
		if status.Answers() {
			out[status.ID] = status
		}
	}
	return out
}

// silent returns how many servers of the cluster do not answer, and how many of these may be running.
func (j judge) silent() (silent, mayRun int) {
	for _, pod := range j.ring.Pods {
		for _, address := range []string{pod.Home, pod.Guest} {
			if j.Nodes[address].Answers() {
				continue
			}
			silent++
			if !pod.Gone {
				mayRun++
			}
		}
	}
	return silent, mayRun
}

// mayReturn reports whether any server that is gone may come back with data.
func (j judge) mayReturn() bool {
	return slices.ContainsFunc(j.ring.Pods, func(pod ring.Pod) bool {
		return pod.Gone && pod.Returns && (!j.Nodes[pod.Home].Answers() || !j.Nodes[pod.Guest].Answers())
	})
}

// claimed reports whether any server lists an owner of a slot.
func (j judge) claimed(slot int) bool {
	for _, status := range j.answering() {
		if status.Slots.Contains(slot) || slices.ContainsFunc(status.Known, func(p redis.Peer) bool { return p.Slots.Contains(slot) }) {
			return true
		}
	}
	return false
}

// owners returns the IDs of slot owners. A server that answers counts if it claims slots itself. Any other server
// counts if it is listed as the owner of slots.
func (j judge) owners() map[string]bool {
	out := map[string]bool{}
	all := j.answering()
	for id, status := range all {
		out[id] = len(status.Slots) > 0
	}
	for _, status := range all {
		for _, peer := range status.Known {
			if _, answers := all[peer.ID]; !answers && len(peer.Slots) > 0 {
				out[peer.ID] = true
			}
		}
	}
	for id, owns := range out {
		if !owns {
			delete(out, id)
		}
	}
	return out
}

func (j judge) followers(id string) (all, linked int) {
	for _, status := range j.answering() {
		if status.Role == redis.Replica && status.PrimaryID == id {
			all++
			if status.LinkUp {
				linked++
			}
		}
	}
	return all, linked
}

func (j judge) raiseEpoch(step redis.RaiseEpoch) string {
	if status := j.Nodes[step.Address]; !status.Answers() || status.Role != redis.Primary {
		return step.Address + " is no primary that answers"
	}
	return ""
}

func (j judge) setEpoch(step redis.SetEpoch) string {
	for address := range step.Epochs {
		if !j.Nodes[address].Fresh() {
			return address + " is not fresh"
		}
	}
	return ""
}

func (j judge) assign(step redis.AssignSlots) string {
	silent, mayRun := j.silent()
	for address, slots := range step.Slots {
		status := j.Nodes[address]
		given := len(slots.Without(j.ring.GivenUp)) == 0
		switch {
		case mayRun > 0 || j.mayReturn() || silent > 0 && !given:
			return "a process does not answer, and may have the slots"
		case !status.Answers() || status.Role != redis.Primary:
			return address + " is no primary that answers"
		case !given && (status.Keys > 0 || len(status.Slots) > 0):
			return address + " is not an empty primary"
		case !given && j.formed():
			return "the data of slots that were not given up would be passed over"
		}
		for _, slot := range slots.Numbers() {
			if j.claimed(slot) {
				return fmt.Sprintf("slot %d is claimed", slot)
			}
		}
	}
	return ""
}

// formed reports whether the cluster has been in use. That is so if a server has slots other than those that its shard
// gets in a new cluster, or if a server lists another server that does not answer.
func (j judge) formed() bool {
	all := j.answering()
	for id, status := range all {
		if slots := status.Slots; len(slots) > 0 && slots.String() != even(j.pod(id), j.ring.Nodes).String() {
			return true
		}
		for _, peer := range status.Known {
			if _, answers := all[peer.ID]; !answers && !peer.Handshake && j.pod(id) < j.ring.Nodes {
				return true
			}
		}
	}
	return false
}

func (j judge) admit(step redis.Admit) string {
	for address := range step.Runs {
		for at, status := range j.Nodes {
			if status.Source == address && status.PrimaryID != j.Nodes[address].ID && (status.Answers() || !j.ended(at)) {
				return "the replica of another would copy " + address
			}
		}
	}
	return ""
}

// ended reports whether the kubelet reports that the server at an address does not run.
func (j judge) ended(address string) bool {
	return slices.ContainsFunc(j.ring.Pods, func(p ring.Pod) bool {
		return p.Home == address && p.Ended[redis.Home] || p.Guest == address && p.Ended[redis.Guest]
	})
}

func (j judge) replicate(step redis.Replicate) string {
	status := j.Nodes[step.Address]
	if primary, ok := j.answering()[step.PrimaryID]; !ok || primary.Role != redis.Primary {
		return "its new primary is no primary that answers"
	}
	if status.Role == redis.Primary {
		if status.Keys > 0 || len(status.Slots) > 0 {
			return "a primary would drop what it has"
		}
		return ""
	}
	if status.PrimaryID == step.PrimaryID {
		if status.LinkUp {
			return "the connection to its primary would be closed"
		}
		return ""
	}
	primary, answers := j.answering()[status.PrimaryID]
	if !answers && j.isMissed(status) {
		return "the replica of a lost primary would drop what it has"
	}
	_, linked := j.followers(status.PrimaryID)
	if status.LinkUp {
		linked--
	}
	if answers && len(primary.Slots) > 0 && linked == 0 {
		return "a shard would have no replica"
	}
	return ""
}

// isMissed reports whether a replica may have the only copy of its primary's data, or of keys that were being moved to
// its primary.
func (j judge) isMissed(replica redis.NodeStatus) bool {
	id := replica.PrimaryID
	return j.owners()[id] && !j.mayBeForgotten(id) || replica.Keys > 0 && j.expects(id)
}

// expects reports whether any server is moving slots to the server with the given ID.
func (j judge) expects(id string) bool {
	for _, status := range j.answering() {
		for _, to := range status.Migrating {
			if to == id {
				return true
			}
		}
	}
	return false
}
