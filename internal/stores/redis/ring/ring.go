// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring decides what to do next so that the processes of a Redis cluster form a ring: the home of pod i is the primary of
// shard i, and its guest the replica of shard i-1. Each shard is then on two pods, and any one pod can be lost.
//
// It is pure: from what all processes report and what is desired it chooses at most one step, and names why others are not
// taken. Reading and writing belong to package redis.
package ring

import (
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Ring is the desired ring, and what is known about its pods.
type Ring struct {
	// Nodes is the desired number of pods, from 1.
	Nodes int
	// Rate is how many bytes a second are moved at most; 0 means no limit.
	Rate int64
	// Paused reports that nothing is to be changed for now: a move of slots stops.
	Paused bool
	// Pods are the existing pods, by ordinal: those beyond Nodes leave, and those that have yet to be created are missing at the
	// end.
	Pods []Pod
	// GivenUp are slots whose data the user gives up if it is lost. No others are given out in a cluster that had data.
	GivenUp redis.Slots
	// Elections is the time after an election in which a replica must take part in no other: see elections.Pause.
	Elections time.Duration
	// Beaten are the addresses of replicas that have just lost an election, which may have begun a while after the request.
	LostElection map[string]bool
	// New reports that the operator has known the ring for less than that: an earlier operator may have asked for elections.
	New bool
}

// Pod is what is known about one pod.
type Pod struct {
	// Home and Guest are the addresses of its processes, "" while it has none.
	Home, Guest string
	// Gone reports that neither of its processes runs or is about to be started: the pod has been deleted and its kubelet has
	// confirmed that, or its machine is fenced.
	Gone bool
	// Returns reports that the volume of a pod that is gone is there: the pod may come back with all its data.
	Returns bool
	// Ended are the processes whose containers do not run, as the kubelet reports. They may be about to start.
	Ended map[redis.Place]bool
	// Yields reports that the pod is about to be stopped: its home hands over to its replica and does not take the lead back.
	Yields bool
}

// Home is the address of the primary of a shard, "" while there is none.
func (r Ring) Home(i int) string {
	if i < 0 || i >= len(r.Pods) {
		return ""
	}
	return r.Pods[i].Home
}

// Guest is the address of the guest of a pod, "" while there is none.
func (r Ring) Guest(i int) string {
	if i < 0 || i >= len(r.Pods) {
		return ""
	}
	return r.Pods[i].Guest
}

// Host is the pod whose guest replicates shard i.
func (r Ring) Host(i int) int { return host(i, r.Nodes) }

func host(i, nodes int) int { return (i + 1) % nodes }
