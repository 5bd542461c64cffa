// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import "slices"

// elect promotes a replica whose primary is silent, if most primaries vote for it and no other replica has more data. A
// replica that has not seen its primary since it started does not request votes (cluster.c, clusterHandleSlaveFailover:
// its data is too old unless cluster-replica-validity-factor is 0).
func (n *node) elect() {
	if n.primary == "" || !n.linked || n.peers[n.primary] == nil || n.peers[n.primary].slots.empty() || !n.failing(n.primary) || !n.elected() {
		return
	}
	if slices.ContainsFunc(n.world.of(n.Cluster), func(other *node) bool { return other.primary == n.primary && other.offset > n.offset }) {
		return
	}
	n.promote()
}

// elected reports whether most primaries vote for the replica. A primary does if it knows whom the replica follows.
func (n *node) elected() bool {
	all, votes := 0, 0
	for _, p := range n.peers {
		if p.primary != "" || p.slots.empty() {
			continue
		}
		all++
		voter := n.reach(p)
		if voter == nil || !voter.leads() {
			continue
		}
		if known := voter.peers[n.id]; known != nil && known.primary == n.primary {
			votes++
		}
	}
	return votes > all/2
}

// HandOver promotes replicas on other pods, so that they replace the primaries of a pod that is about to be stopped.
// The hook of the pod's containers does the same.
func (w *World) HandOver(pod string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.pods[pod] {
		if !n.leads() {
			continue
		}
		for _, replica := range n.followers() {
			if replica.Pod != pod && n.leads() && replica.elected() {
				replica.promote()
				w.gossip(n.Cluster)
			}
		}
	}
}
