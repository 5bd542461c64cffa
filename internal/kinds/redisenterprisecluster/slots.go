// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/redis"
)

// busOffset is how much higher than its port the bus port of a server is (cluster.h, CLUSTER_PORT_INCR).
const busOffset = 10000

// ranges are slots: how many, and which, such as 0-5460,10923.
type ranges interface {
	Len() int
	String() string
}

// server is what one of the two servers of a pod is seen to be.
type server struct {
	pod   string
	place redisv1alpha1.Place
	// answers tells whether it serves; nothing else is known of one that does not.
	answers bool
	role    redisv1alpha1.Role
	// shard is the ID of the primary: its own, or of whom it follows.
	shard string
	// slots are a primary's own.
	slots ranges
	// down is why it holds the cluster to be down, and answers no client; "" where it does not.
	down string
	// inSync tells that a replica has all that its primary had when they connected, and is connected.
	inSync bool

	// address is where it is; run changes with every start, and err is why it does not answer.
	address, run string
	version      redis.Version
	loading      bool
	err          error
}

// leads tells whether it is the primary of slots.
func (s server) leads() bool {
	return s.answers && s.role == redisv1alpha1.Primary && s.slots != nil && s.slots.Len() > 0
}

// servers are those of all pods, in the order of the pods, home before guest.
type servers []server

// shards is how many primaries have slots.
func (all servers) shards() int32 {
	var n int32
	for _, s := range all {
		if s.leads() {
			n++
		}
	}
	return n
}

// slotMap is who has which slots. A replica has those of its primary.
func (all servers) slotMap() []redisv1alpha1.ServerSlots {
	of := map[string]string{}
	for _, s := range all {
		if s.leads() {
			of[s.shard] = s.slots.String()
		}
	}
	out := make([]redisv1alpha1.ServerSlots, 0, len(all))
	for _, s := range all {
		line := redisv1alpha1.ServerSlots{Pod: s.pod, Place: s.place}
		if s.answers {
			line.Role, line.Slots = s.role, of[s.shard]
		}
		out = append(out, line)
	}
	return out
}

// reportAvailable tells whether each slot has a primary that serves it; unserved are those that have none that answers,
// and refused those of primaries that answer no client.
func reportAvailable(set condition.Set, all servers, unserved, refused ranges) {
	const kind = redisv1alpha1.ConditionAvailable
	served, primaries := redisv1alpha1.Slots-unserved.Len()-refused.Len(), 0
	for _, s := range all {
		if s.leads() && s.down == "" {
			primaries++
		}
	}
	text := fmt.Sprintf("%d of %d slots are served by %d primaries", served, redisv1alpha1.Slots, primaries)
	if served == redisv1alpha1.Slots {
		set.True(kind, redisv1alpha1.ReasonAllSlotsServed, text)
		return
	}
	if unserved.Len() > 0 {
		text += fmt.Sprintf("; %s have no primary that answers%s", unserved, all.silent())
	}
	if refused.Len() > 0 {
		text += fmt.Sprintf("; %s are refused to clients: %s", refused, all.downs())
	}
	set.False(kind, redisv1alpha1.ReasonSlotsUnserved, text)
}

// downs tells of the first primary that holds the cluster to be down.
func (all servers) downs() string {
	for _, s := range all {
		if s.leads() && s.down != "" {
			return fmt.Sprintf("%s holds the cluster to be down, %s", s, s.down)
		}
	}
	return ""
}

// whyDown is why a server holds the cluster to be down; "" where it does not. One that hears of enough others has just
// been started, or has just found them again.
func whyDown(status redis.NodeStatus) string {
	switch of, all := status.Hears(); {
	case status.ClusterOK:
		return ""
	case of > all/2:
		return "and takes it for up again in a moment"
	default:
		return fmt.Sprintf("as it hears of %d of %d primaries; look at the ports of the bus (%d and %d: NetworkPolicy?)",
			of, all, redisv1alpha1.HomePort+busOffset, redisv1alpha1.GuestPort+busOffset)
	}
}

// silent names the servers that do not answer.
func (all servers) silent() string {
	var names []string
	for _, s := range all {
		if !s.answers {
			names = append(names, s.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", and these servers do not answer: " + strings.Join(names, ", ")
}

func (s server) String() string { return fmt.Sprintf("%s of %s", s.place, s.pod) }

// reportRedundant tells whether each shard has a replica in sync on another pod, and else which is the first that has not.
func reportRedundant(set condition.Set, all servers) {
	const kind = redisv1alpha1.ConditionRedundant
	var copied int32
	var reason, first string
	for _, s := range all {
		if !s.leads() {
			continue
		}
		lack, why := all.lacks(s)
		if lack == "" {
			copied++
		} else if reason == "" {
			reason, first = lack, why
		}
	}
	switch shards := all.shards(); {
	case shards == 0:
		set.False(kind, redisv1alpha1.ReasonReplicaMissing, "No shard is seen, and so no replica of one")
	case reason == "":
		set.True(kind, redisv1alpha1.ReasonAllShardsReplicated, fmt.Sprintf("%d of %d shards have a replica in sync on another pod", copied, shards))
	default:
		set.False(kind, reason, fmt.Sprintf("%d of %d shards have a replica in sync on another pod; %s", copied, shards, first))
	}
}

// lacks tells what keeps the shard of a primary from having a copy; nothing if it has one.
func (all servers) lacks(primary server) (reason, why string) {
	reason, why = redisv1alpha1.ReasonReplicaMissing, fmt.Sprintf("that of %s has none", primary)
	for _, s := range all {
		switch {
		case !s.answers || s.role != redisv1alpha1.Replica || s.shard != primary.shard:
		case s.pod == primary.pod:
			reason, why = redisv1alpha1.ReasonTooFewNodes, fmt.Sprintf("that of %s is on the same pod; set nodes to 3 or more", primary)
		case !s.inSync:
			reason, why = redisv1alpha1.ReasonReplicaBehind, fmt.Sprintf("%s has not caught up with %s yet", s, primary)
		default:
			return "", ""
		}
	}
	return reason, why
}
