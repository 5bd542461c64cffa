// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Ranges is a set of slots. Len is their number, and String lists them as ranges, such as 0-5460,10923.
type Ranges interface {
	Len() int
	String() string
}

// Server describes one of the two servers of a pod, as the prober last read it.
type Server struct {
	Pod   string
	Place redisv1alpha1.Place
	// Answers is true if the server answered. Otherwise only Err and Loading are known.
	Answers bool
	Role    redisv1alpha1.Role
	// Shard is the node ID of the shard's primary: the server's own ID, or the ID of the primary that it replicates.
	Shard string
	// Slots are the slots that a primary owns.
	Slots Ranges
	// Down explains why the server considers the cluster down and refuses clients; "" if it does not.
	Down string
	// InSync is true if a replica was connected to its primary when the servers were read, and had received all data
	// that the primary had when the replica connected.
	InSync bool
	// Run identifies one start of the server. Err explains why the server does not answer.
	Address, Run string
	Version      redis.Version
	Loading      bool
	Err          error
}

// Leads reports whether the server is a primary that owns slots. A primary without slots serves no data.
func (s Server) Leads() bool {
	return s.Answers && s.Role == redisv1alpha1.Primary && s.Slots != nil && s.Slots.Len() > 0
}

func (s Server) String() string { return fmt.Sprintf("%s server of %s", s.Place, s.Pod) }

// Servers are the servers of all pods, in the order of the pods. In each pod, the home server (for the pod's own shard)
// comes before the guest server (a replica of another pod's shard).
type Servers []Server

// At returns the server at an address, or the zero Server.
func (all Servers) At(address string) Server {
	for _, s := range all {
		if s.Address == address {
			return s
		}
	}
	return Server{}
}

// Answering returns how many servers answered.
func (all Servers) Answering() int {
	n := 0
	for _, s := range all {
		if s.Answers {
			n++
		}
	}
	return n
}

// LostElections returns the addresses of replicas that lost an election and must not start another election yet. until
// maps Server.Run of a replica to the time when the replica may try again.
func (all Servers) LostElections(until map[string]time.Time, now time.Time) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		if now.Before(until[s.Run]) {
			out[s.Address] = true
		}
	}
	return out
}

// Shards returns how many primaries own slots.
func (all Servers) Shards() int32 {
	var n int32
	for _, s := range all {
		if s.Leads() {
			n++
		}
	}
	return n
}

// LeadOn reports whether a server of a pod is a primary that owns slots.
func (all Servers) LeadOn(pod string) bool {
	return slices.ContainsFunc(all, func(s Server) bool { return s.Pod == pod && s.Leads() })
}

// MayLeadUnseenOn reports whether a server of a pod runs but does not answer, so that it may be a primary that owns
// slots.
func (all Servers) MayLeadUnseenOn(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		i := slices.IndexFunc(all, func(s Server) bool { return s.Pod == pod.Name && string(s.Place) == status.Name })
		return i >= 0 && status.State.Running != nil && !all[i].Answers
	})
}

// SlotMap returns for each server which slots it serves. A replica is listed with the slots of its primary.
func (all Servers) SlotMap() []redisv1alpha1.ServerSlots {
	of := map[string]string{}
	for _, s := range all {
		if s.Leads() {
			of[s.Shard] = s.Slots.String()
		}
	}
	out := make([]redisv1alpha1.ServerSlots, 0, len(all))
	for _, s := range all {
		line := redisv1alpha1.ServerSlots{Pod: s.Pod, Place: s.Place}
		if s.Answers {
			line.Role, line.Slots = s.Role, of[s.Shard]
		}
		out = append(out, line)
	}
	return out
}
