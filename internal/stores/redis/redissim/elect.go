// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import "slices"

// elect promotes a replica whose primary is silent, if most primaries vote for it and no other replica has more data. A
// replica that has not seen its primary since its start requests no votes (cluster.c, clusterHandleSlaveFailover).
func (n *node) elect() {
	if n.primary == "" || !n.linked || n.peers[n.primary] == nil || n.peers[n.primary].slots.empty() || !n.failing(n.primary) || !n.elected() {
		return
	}
	if slices.ContainsFunc(n.world.of(n.Cluster), func(other *node) bool { return other.primary == n.primary && other.offset > n.offset }) {
		return
	}
	n.promote()
}

// elected reports whether most primaries vote for the replica. A primary votes for it if it knows which primary the
// replica follows.
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

// HandOver promotes replicas on other pods to replace the primaries of a pod that is about to stop. In a real cluster,
// the pod's preStop hook does this.
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
