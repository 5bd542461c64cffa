// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring decides what to do next in a Redis cluster. Each pod has two servers: the home server of pod i is the
// primary of shard i, and the guest server of pod i is the replica of shard i-1, so that any one pod can be lost. The
// leader of a shard is its current primary, which after a failover is the guest server.
//
// The package has no side effects. From the status of all servers and the desired state it chooses at most one step,
// and explains why other steps must wait. Package redis reads the servers and executes steps.
package ring

import (
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Ring describes the desired cluster and what is known about its pods. The shards' replicas are arranged in a ring: pod
// i+1 has the replica of pod i's shard.
type Ring struct {
	// Nodes is the desired number of pods, at least 1.
	Nodes int
	// Rate limits how many bytes are moved per second; 0 means no limit.
	Rate int64
	// Paused reports that nothing may be changed for now. A running move of slots is then stopped.
	Paused bool
	// Pods are the existing pods, by ordinal. Pods with an ordinal of Nodes or more will be removed. Pods that do not
	// exist yet are missing at the end.
	Pods []Pod
	// GivenUp are the slots whose loss of data the user accepts. Only these slots are assigned again without their
	// data.
	GivenUp redis.Slots
	// Elections is the time after an election in which a replica does not start another one: see elections.Pause.
	Elections time.Duration
	// LostElection holds the addresses of replicas that have lost an election so recently that they must not start
	// another one yet.
	LostElection map[string]bool
	// New reports that the operator has known the cluster only for a short time. An earlier operator process may have
	// requested an election so recently that a replica cannot start another one yet.
	New bool
}

// Pod holds what is known about one pod.
type Pod struct {
	// Home and Guest are the addresses of the pod's two servers; "" while they have none. The home server is usually a
	// primary, and the guest server a replica of another pod's shard.
	Home, Guest string
	// Gone reports that neither server of the pod runs or will start: the kubelet has confirmed the pod's deletion, or
	// its node is fenced.
	Gone bool
	// Returns reports that a gone pod still has its volume and may come back with all its data.
	Returns bool
	// Ended is true for those servers of the pod (home or guest) whose container does not run, as the kubelet reports.
	// Such a container may be about to start.
	Ended map[redis.Place]bool
	// Yields reports that the pod is about to be stopped. Its primary then hands over to a replica on another pod, and
	// does not become a primary again before the stop.
	Yields bool
}

// Home returns the address of the home server of pod i: the usual primary of shard i. It returns "" while that server
// has no address.
func (r Ring) Home(i int) string {
	if i < 0 || i >= len(r.Pods) {
		return ""
	}
	return r.Pods[i].Home
}

// Guest returns the address of the guest server of pod i: the usual replica of shard i-1. It returns "" while that
// server has no address.
func (r Ring) Guest(i int) string {
	if i < 0 || i >= len(r.Pods) {
		return ""
	}
	return r.Pods[i].Guest
}

// Host returns the ordinal of the pod that has the replica of shard i (as its guest server).
func (r Ring) Host(i int) int { return host(i, r.Nodes) }

func host(i, nodes int) int { return (i + 1) % nodes }
