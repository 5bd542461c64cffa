// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// judge records a violation if clients could write to the same slot on two servers.
func (w *World) judge(cluster string, nodes []*node) {
	var seen set
	for _, n := range nodes {
		if n.primary != "" || !n.ok() {
			continue
		}
		serves := n.slots
		for slot := range n.migrating { // a migrating slot's source redirects clients
			serves.take(slot)
		}
		if twice := seen.both(serves); !twice.empty() {
			w.violated(cluster, "%d slots have two primaries, %s among them", twice.count(), n.Address)
		}
		seen.addAll(serves)
	}
}

// Whole returns what is wrong with a cluster of a number of pods; nil if nothing is. Each slot must have one primary,
// each primary a replica in sync on another pod, all servers must know each other, and no write may be lost.
func (w *World) Whole(cluster string, pods int) error {
	w.mu.Lock()
	nodes := w.of(cluster)
	w.gossip(cluster)
	err := whole(nodes, pods)
	w.mu.Unlock()
	if err != nil {
		return err
	}
	if lost := w.Lost(cluster); len(lost) > 0 {
		return fmt.Errorf("%d keys are lost, such as %s", len(lost), lost[0])
	}
	return nil
}

func whole(nodes []*node, pods int) error {
	if len(nodes) != 2*pods {
		return fmt.Errorf("%d processes run, expected those of %d pods", len(nodes), pods)
	}
	var owned set
	primaries := 0
	for _, n := range nodes {
		if err := wholeNode(n, nodes); err != nil {
			return fmt.Errorf("%s: %w", n.Address, err)
		}
		if twice := owned.both(n.slots); !twice.empty() {
			return fmt.Errorf("%d slots have two primaries", twice.count())
		}
		owned.addAll(n.slots)
		if n.leads() {
			primaries++
		}
	}
	if owned.count() != redis.SlotCount || primaries != pods {
		return fmt.Errorf("%d slots have a primary, of %d", owned.count(), primaries)
	}
	return nil
}

// wholeNode returns what is wrong with one server.
func wholeNode(n *node, nodes []*node) error {
	switch {
	case len(n.peers) != len(nodes)-1:
		return fmt.Errorf("it knows %d others, of %d", len(n.peers), len(nodes)-1)
	case len(n.migrating)+len(n.importing) > 0:
		return fmt.Errorf("slots are still being moved: %v and %v", n.migrating, n.importing)
	case n.primary != "" && !n.synced:
		return fmt.Errorf("it is not in sync")
	case !n.ok():
		return fmt.Errorf("it considers the cluster down")
	case n.leads() && !copied(n):
		return fmt.Errorf("it has no replica in sync on another pod")
	}
	for _, other := range nodes {
		if p := n.peers[other.id]; other != n && (p == nil || p.address != other.Address || p.slots != other.slots || p.primary != other.primary) {
			return fmt.Errorf("it does not know what %s is", other.Address)
		}
	}
	return nil
}

// copied reports whether a replica on another pod has all data of a primary.
func copied(n *node) bool {
	for _, other := range n.followers() {
		if other.Pod != n.Pod || len(n.peers) == 1 {
			return true
		}
	}
	return false
}

// InRing reports whether a pod's agent would report the pod as ready: one of its servers (home) is a primary with
// slots, and the other one (guest) is a replica in sync.
func (w *World) InRing(pod string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	home, guest := false, false
	for _, n := range w.pods[pod] {
		switch {
		case !n.ok():
		case n.Place == redis.Home:
			home = n.leads()
		default:
			guest = n.primary != "" && n.synced
		}
	}
	return home && guest
}

// Opened reports whether a slot of a cluster is being moved.
func (w *World) Opened(cluster string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.of(cluster) {
		if len(n.migrating)+len(n.importing) > 0 {
			return true
		}
	}
	return false
}
