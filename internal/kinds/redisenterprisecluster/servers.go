// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"strings"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// ranges are slots: how many, and which, such as 0-5460,10923.
type ranges interface {
	Len() int
	String() string
}

// server is what one of the two servers of a pod is seen to be.
type server struct {
	pod   string
	place redisv1alpha1.Place
	// answers reports whether it serves; nothing else is known of one that does not.
	answers bool
	role    redisv1alpha1.Role
	// shard is the ID of the primary: its own, or of whom it follows.
	shard string
	// slots are a primary's own.
	slots ranges
	// down is why it holds the cluster to be down, and answers no client; "" where it does not.
	down string
	// inSync reports that a replica has all that its primary had when they connected, and is connected.
	inSync bool

	// address is where it is; run changes with every start, and err is why it does not answer.
	address, run string
	version      redis.Version
	loading      bool
	err          error
}

// leads reports whether it is the primary of slots.
func (s server) leads() bool {
	return s.answers && s.role == redisv1alpha1.Primary && s.slots != nil && s.slots.Len() > 0
}

// servers are those of all pods, in the order of the pods, home before guest.
type servers []server

// at is the one at an address.
func (all servers) at(address string) server {
	for _, s := range all {
		if s.address == address {
			return s
		}
	}
	return server{}
}

// beaten are the addresses of those that have just lost an election, by until when they are left alone.
func (all servers) beaten(until map[string]time.Time, now time.Time) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		if now.Before(until[s.run]) {
			out[s.address] = true
		}
	}
	return out
}

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
