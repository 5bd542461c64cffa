// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// hosts returns the nodes that may run a command: first those outside the control plane. The order differs between
// attempts, so that one bad host does not spoil all attempts.
func (in *Input) hosts(labels map[string]nodesv1.LabelValue) []*corev1.Node {
	var out []*corev1.Node
	for _, n := range in.Cluster.Nodes {
		_, fenced := markOf(n)
		if n.Name != in.Node.Name && isReady(n) && in.fresh(n.Name) && !fenced && n.DeletionTimestamp == nil &&
			!common.IsSet(n.Annotations, common.PausedAnnotation) && has(n, labels) {
			out = append(out, n)
		}
	}
	seed := in.activityName(in.attempt(), "hosts")
	slices.SortFunc(out, func(a, b *corev1.Node) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(digest(seed, a.Name), digest(seed, b.Name)))
	})
	return out
}

func rank(node *corev1.Node) int {
	if isControlPlane(node) {
		return 1
	}
	return 0
}

func has(node *corev1.Node, labels map[string]nodesv1.LabelValue) bool {
	for key, value := range labels {
		if found, ok := node.Labels[key]; !ok || found != string(value) {
			return false
		}
	}
	return true
}

// peers returns the two hosts that ask the machine for an answer; nil if there are not two hosts with an address.
func (in *Input) peers() []*corev1.Node {
	all := slices.DeleteFunc(in.hosts(nil), func(n *corev1.Node) bool { return len(addresses(n)) == 0 })
	if len(all) < peers {
		return nil
	}
	return all[:peers]
}

// hostFor returns the host that runs the command of a role; nil if there is none.
func (in *Input) hostFor(role Role) *corev1.Node {
	switch role {
	case Peer1, Peer2:
		if both := in.peers(); both != nil {
			return both[slices.Index([]Role{Peer1, Peer2}, role)]
		}
		return nil
	case Fence:
		return at(in.hosts(in.Pool.Spec.Fence.OnNodes), 0)
	case Power2:
		return at(in.hosts(in.Pool.Spec.PowerStatus.OnNodes), 1)
	}
	return at(in.hosts(in.Pool.Spec.PowerStatus.OnNodes), 0)
}

func at(nodes []*corev1.Node, i int) *corev1.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[i%len(nodes)]
}

// noHostIsLeft: an attempt that cannot be completed must not begin.
func noHostIsLeft(in *Input) *Verdict {
	switch {
	case len(addresses(in.Node)) == 0:
		return in.held(held, "the node has no IP address in its status, so no other host can ask whether the machine answers")
	case in.hostFor(Fence) == nil:
		return in.held(held, "no other node can run the fence command: none is Ready and has the labels in spec.remediation.fence.onNodes")
	case in.hostFor(Power1) == nil:
		return in.held(held, "no other node can run the powerStatus command: none is Ready and has the labels in spec.remediation.powerStatus.onNodes")
	case in.peers() == nil:
		return in.held(held, "fewer than two other nodes are Ready, and two must ask whether the machine answers")
	}
	return nil
}

// addresses returns the IP addresses of a node. The kubelet reports them, so anything else than an IP address is left
// out: the addresses get into commands on other hosts.
func addresses(node *corev1.Node) []string {
	var out []string
	for _, a := range node.Status.Addresses {
		if a.Type != corev1.NodeInternalIP && a.Type != corev1.NodeExternalIP {
			continue
		}
		if ip, err := netip.ParseAddr(a.Address); err == nil && ip.Zone() == "" && len(out) < 4 {
			out = append(out, ip.String())
		}
	}
	return out
}
