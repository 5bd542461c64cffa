// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// present reports whether policies apply to a pod: it has not ended, and it has its own IPv4 address.
func present(pod *corev1.Pod) bool {
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return !over && !pod.Spec.HostNetwork && addressOf(pod).Is4()
}

func addressOf(pod *corev1.Pod) netip.Addr {
	address, _ := netip.ParseAddr(pod.Status.PodIP) // the zero address while the pod has none
	return address
}

func blockOf(pod *corev1.Pod) block {
	address := addressOf(pod)
	return block{prefix: netip.PrefixFrom(address, address.BitLen())}
}

// selects reports whether a selector matches labels. The API server has validated the selector; an invalid one matches
// nothing.
func selects(selector *metav1.LabelSelector, set labels.Set) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(set)
}

// blocks returns the addresses of peers. The result is empty if peers is empty or selects nothing.
func (w world) blocks(namespace string, peers []networkingv1.NetworkPolicyPeer) []block {
	var out []block
	for _, peer := range peers {
		if peer.IPBlock != nil {
			out = append(out, parseBlock(peer.IPBlock)...)
			continue
		}
		for _, pod := range w.selected(namespace, peer) {
			out = append(out, blockOf(pod))
		}
	}
	return out
}

// podsOf returns the pods that peers select. If peers is empty, it returns all pods.
func (w world) podsOf(namespace string, peers []networkingv1.NetworkPolicyPeer) []*corev1.Pod {
	if len(peers) == 0 {
		peers = []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}}
	}
	var out []*corev1.Pod
	for _, peer := range peers {
		if peer.IPBlock == nil {
			out = append(out, w.selected(namespace, peer)...)
		}
	}
	return out
}

// selected returns the pods that a peer of a policy selects. Without a namespace selector, they are in the policy's
// namespace.
func (w world) selected(namespace string, peer networkingv1.NetworkPolicyPeer) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range w.pods {
		in := pod.Namespace == namespace
		if peer.NamespaceSelector != nil {
			set, known := w.namespaces[pod.Namespace]
			in = known && selects(peer.NamespaceSelector, set)
		}
		if in && present(pod) && (peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out
}

// parseBlock returns no block for IPv6, because the cluster only has IPv4 addresses.
func parseBlock(from *networkingv1.IPBlock) []block {
	prefix, err := netip.ParsePrefix(from.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return nil
	}
	out := block{prefix: prefix.Masked()}
	for _, text := range from.Except {
		if except, err := netip.ParsePrefix(text); err == nil {
			out.except = append(out.except, except.Masked())
		}
	}
	return []block{out}
}

// portsAt returns the ports of a rule. It looks up named ports in the pod. If pod is nil, it leaves named ports out.
func portsAt(ports []networkingv1.NetworkPolicyPort, pod *corev1.Pod) []portRange {
	var out []portRange
	for _, p := range ports {
		protocol := corev1.ProtocolTCP
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		switch {
		case p.Port == nil:
			out = append(out, portRange{protocol: protocol})
		case p.Port.Type == intstr.Int:
			r := portRange{protocol, p.Port.IntVal, p.Port.IntVal}
			if p.EndPort != nil {
				r.to = *p.EndPort
			}
			out = append(out, r)
		case pod != nil:
			out = append(out, named(pod, p.Port.StrVal, protocol)...)
		}
	}
	return out
}

func named(pod *corev1.Pod, name string, protocol corev1.Protocol) []portRange {
	var out []portRange
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, port := range container.Ports {
			if port.Name == name && (port.Protocol == protocol || port.Protocol == "" && protocol == corev1.ProtocolTCP) {
				out = append(out, portRange{protocol, port.ContainerPort, port.ContainerPort})
			}
		}
	}
	return out
}

func onlyNames(ports []networkingv1.NetworkPolicyPort) []networkingv1.NetworkPolicyPort {
	return slices.DeleteFunc(slices.Clone(ports), func(p networkingv1.NetworkPolicyPort) bool { return p.Port == nil || p.Port.Type == intstr.Int })
}
