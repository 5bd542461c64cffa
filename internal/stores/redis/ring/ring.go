// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring decides what to do next so that the processes of a Redis cluster form a ring. Each pod has two
// processes, at its places home and guest: the home of pod i is the primary of shard i, and the guest of pod i is the
// replica of shard i-1. So each shard is on two pods, and any one pod can be lost. The leader of a shard is its current
// primary, which after a failover is the guest.
//
// The package is pure: from what all processes report and what is desired it chooses at most one step, and names why
// other steps are not taken. Package redis reads and writes.
package ring

import (
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Ring is the desired ring with what is known about its pods.
type Ring struct {
	// Nodes is the desired number of pods, at least 1.
	Nodes int
	// Rate limits how many bytes are moved per second; 0 means no limit.
	Rate int64
	// Paused reports that nothing may be changed for now, so that a move of slots is stopped.
	Paused bool
	// Pods are the existing pods, by ordinal. Pods beyond Nodes leave the ring. Pods that have yet to be created are
	// missing at the end.
	Pods []Pod
	// GivenUp are slots whose data the user gives up if it is lost. In a cluster that had data, only these are assigned
	// without data.
	GivenUp redis.Slots
	// Elections is the time after an election in which a replica must not take part in another: see elections.Pause.
	Elections time.Duration
	// LostElection holds the addresses of replicas that have just lost an election, which may have begun some time after
	// the request.
	LostElection map[string]bool
	// New reports that the operator has known the ring for less than Elections, so that an earlier operator may have
	// requested elections.
	New bool
}

// Pod holds what is known about one pod.
type Pod struct {
	// Home and Guest are the addresses of its two processes, or "" while they have none.
	Home, Guest string
	// Gone reports that neither process of the pod runs or is about to be started: the pod has been deleted and its
	// kubelet has confirmed it, or its machine is fenced.
	Gone bool
	// Returns reports that a pod that is gone still has its volume, so that it may come back with all its data.
	Returns bool
	// Ended holds the places whose containers do not run, as the kubelet reports. They may be about to start.
	Ended map[redis.Place]bool
	// Yields reports that the pod is about to be stopped, so that its home hands over to its guest and is not made the
	// primary again.
	Yields bool
}

// Home returns the address of the home of pod i, or "" while it has none.
func (r Ring) Home(i int) string {
	if i < 0 || i >= len(r.Pods) {
		return ""
	}
	return r.Pods[i].Home
}

// Guest returns the address of the guest of pod i, or "" while it has none.
func (r Ring) Guest(i int) string {
	if i < 0 || i >= len(r.Pods) {
		return ""
	}
	return r.Pods[i].Guest
}

// Host returns the ordinal of the pod whose guest replicates shard i.
func (r Ring) Host(i int) int { return host(i, r.Nodes) }

func host(i, nodes int) int { return (i + 1) % nodes }
