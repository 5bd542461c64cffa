// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring decides what is to be done next for the processes of a Redis cluster to
// stand in a ring: on pod i is, at home, the primary of shard i, and as a guest the replica
// of shard i-1, so that each shard is on two pods, and each pod alone can be lost.
//
// It is pure: from what all processes say and what is wanted it makes at most one step,
// and the reasons why others are not taken. Nothing here reads or writes.
package ring

import (
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Ring is what is wanted, and what is known of the pods.
type Ring struct {
	// Nodes is how many pods the ring shall have, from 1.
	Nodes int
	// Rate is how many bytes a second are moved at most; 0 for as many as can be.
	Rate int64
	// Paused reports that nothing shall be changed for now: slots are not moved on.
	Paused bool
	// Pods are those that there are, by ordinal: those beyond Nodes leave, and one that has
	// yet to be made may be missing at the end.
	Pods []Pod
	// Forsaken are slots whose data the user gives up, where it is lost. No others are given out
	// in a cluster that had data.
	Forsaken redis.Slots
	// Elections is for how long after an election a replica is to be in no other: see elections.Pause.
	Elections time.Duration
	// Beaten are the addresses of replicas that have just lost one, which may have begun a while after it was asked for.
	Beaten map[string]bool
	// New reports that anyone who asks has known the ring for less than that: whom another process has asked since is not known.
	New bool
}

// Pod is what is known of one.
type Pod struct {
	// Home and Guest are the addresses of its processes, "" while it has none.
	Home, Guest string
	// Gone reports that it is proven that neither of its processes runs, nor is about to be
	// started: the pod has been deleted and its kubelet has confirmed that, or its machine is
	// fenced.
	Gone bool
	// Returns reports one that is gone that its volume is there: it may come back with all that it had.
	Returns bool
	// Ended reports which of its processes the kubelet says that their containers do not run. They may be about to.
	Ended map[redis.Place]bool
	// Yields reports that the pod is about to be stopped: its home hands over to its replica, and
	// does not take the lead back.
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
func (r Ring) Host(i int) int { return (i + 1) % r.Nodes }
