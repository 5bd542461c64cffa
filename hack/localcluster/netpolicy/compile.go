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

// world holds the objects of the cluster from which the agent computes its rules.
type world struct {
	policies   []*networkingv1.NetworkPolicy
	namespaces map[string]labels.Set
	pods       []*corev1.Pod
}

// guard restricts the connections of one pod. A direction (ingress or egress) that is nil is not restricted. A
// direction without entries allows no connection.
type guard struct {
	name            string
	address         netip.Addr
	ingress, egress *side
}

// side is one direction (ingress or egress) of a pod's connections. It allows a connection if one of its entries allows
// the connection.
type side struct{ allow []allowance }

// allowance permits connections with certain peers at certain ports. If peers is empty, it permits all peers. If ports
// is empty, it permits all ports of all protocols.
type allowance struct {
	peers []block
	ports []portRange
}

// block is a range of peer addresses, from which the ranges in except are left out.
type block struct {
	prefix netip.Prefix
	except []netip.Prefix
}

// portRange is a range of ports of one protocol. If from is 0, it contains all ports of the protocol.
type portRange struct {
	protocol corev1.Protocol
	from, to int32
}

// compile returns the guards of the pods on a node, sorted by address. A pod that no policy selects gets no guard.
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

// guardOf returns the guard of a pod. It combines all policies that select the pod.
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

// restricts reports whether a policy restricts a direction. A policy without policyTypes restricts ingress. It also
// restricts egress if it has egress rules.
func restricts(policy *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) bool {
	if len(policy.Spec.PolicyTypes) > 0 {
		return slices.Contains(policy.Spec.PolicyTypes, direction)
	}
	return direction == networkingv1.PolicyTypeIngress || len(policy.Spec.Egress) > 0
}

// ingress returns what a policy permits to connect to a pod. It looks up named ports in this pod.
func (w world) ingress(policy *networkingv1.NetworkPolicy, pod *corev1.Pod) []allowance {
	var out []allowance
	for _, rule := range policy.Spec.Ingress {
		peers, ports := w.blocks(policy.Namespace, rule.From), portsAt(rule.Ports, pod)
		if len(peers) == 0 && len(rule.From) > 0 || len(ports) == 0 && len(rule.Ports) > 0 {
			continue // the rule names peers or ports, but none exist
		}
		out = append(out, allowance{peers, ports})
	}
	return out
}

// egress returns the connections that a policy permits its pods to open. It looks up a named port in each peer, because
// the same name may stand for different numbers in different peers.
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
