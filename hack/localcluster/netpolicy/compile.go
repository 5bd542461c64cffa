// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// world is what the rules follow from.
type world struct {
	policies   []*networkingv1.NetworkPolicy
	namespaces map[string]labels.Set
	pods       []*corev1.Pod
}

// guard restricts one pod. A side that is nil is not restricted; one without entries is closed.
type guard struct {
	name            string
	address         netip.Addr
	ingress, egress *side
}

// side is one direction of a pod's connections: what any entry allows is allowed.
type side struct{ allow []allowance }

// allowance allows connections with peers at ports. No peers are all peers, and no ports all ports of all protocols.
type allowance struct {
	peers []block
	ports []portRange
}

// block are the addresses of a peer.
type block struct {
	prefix netip.Prefix
	except []netip.Prefix
}

// portRange are ports of a protocol; from 0 are all of its ports.
type portRange struct {
	protocol corev1.Protocol
	from, to int32
}

// compile returns the guards of the pods of a node, by address. A pod that no policy selects has none.
func compile(w world, node string) []guard {
	var out []guard
	for _, pod := range w.pods {
		if pod.Spec.NodeName != node || !present(pod) {
			continue
		}
		if g := w.guardOf(pod); g.ingress != nil || g.egress != nil {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b guard) int { return a.address.Compare(b.address) })
	return out
}

// guardOf combines the policies that select a pod.
func (w world) guardOf(pod *corev1.Pod) guard {
	g := guard{name: pod.Namespace + "/" + pod.Name, address: addressOf(pod)}
	for _, policy := range w.policies {
		if policy.Namespace != pod.Namespace || !selects(&policy.Spec.PodSelector, pod.Labels) {
			continue
		}
		if restricts(policy, networkingv1.PolicyTypeIngress) {
			g.ingress = g.ingress.with(w.ingress(policy, pod))
		}
		if restricts(policy, networkingv1.PolicyTypeEgress) {
			g.egress = g.egress.with(w.egress(policy))
		}
	}
	return g
}

func (s *side) with(more []allowance) *side {
	if s == nil {
		s = &side{}
	}
	s.allow = append(s.allow, more...)
	return s
}

// restricts reports whether a policy is about a direction. Without types it is about ingress, and about egress if it has rules for it.
func restricts(policy *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) bool {
	if len(policy.Spec.PolicyTypes) > 0 {
		return slices.Contains(policy.Spec.PolicyTypes, direction)
	}
	return direction == networkingv1.PolicyTypeIngress || len(policy.Spec.Egress) > 0
}

// ingress are the allowances of a policy for connections to a pod, whose ports names stand for.
func (w world) ingress(policy *networkingv1.NetworkPolicy, pod *corev1.Pod) []allowance {
	var out []allowance
	for _, rule := range policy.Spec.Ingress {
		peers, ports := w.blocks(policy.Namespace, rule.From), portsAt(rule.Ports, pod)
		if len(peers) == 0 && len(rule.From) > 0 || len(ports) == 0 && len(rule.Ports) > 0 {
			continue // it names peers or ports of which there are none
		}
		out = append(out, allowance{peers, ports})
	}
	return out
}

// egress are the allowances of a policy for connections from its pods. A name of a port stands for a number at each peer.
func (w world) egress(policy *networkingv1.NetworkPolicy) []allowance {
	var out []allowance
	for _, rule := range policy.Spec.Egress {
		peers, numbers := w.blocks(policy.Namespace, rule.To), portsAt(rule.Ports, nil)
		if (len(peers) > 0 || len(rule.To) == 0) && (len(numbers) > 0 || len(rule.Ports) == 0) {
			out = append(out, allowance{peers, numbers})
		}
		for _, pod := range w.podsOf(policy.Namespace, rule.To) {
			if named := portsAt(onlyNames(rule.Ports), pod); len(named) > 0 {
				out = append(out, allowance{[]block{blockOf(pod)}, named})
			}
		}
	}
	return out
}
