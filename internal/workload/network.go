// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// Network lists who may connect to which ports of an application's pods. All other connections are denied. The kubelet
// on a pod's node can always connect, because NetworkPolicies do not restrict its probes.
type Network struct {
	// Clients are the ports for clients. Inner are ports that only the pods of the application use among themselves.
	// Open are ports that anyone may reach, such as metrics.
	Clients, Inner, Open []*networkingv1ac.NetworkPolicyPortApplyConfiguration
	// Access limits who may use the ports for clients; empty means anyone. The pods themselves, the operator and
	// Helpers may always connect.
	Access common.Access
	// Helpers are label sets of other pods that opcrew runs in the namespace of the application and that must connect
	// as clients.
	Helpers []map[string]string
	// Operator is the namespace of the operator if the operator connects to the pods; otherwise empty.
	Operator string
}

// OperatorLabels returns the labels of the operator's pods for one layer. A layer is a group of kinds (machines,
// applications or data) with its own Deployment of the operator. config/layers sets these labels.
func OperatorLabels(layer string) map[string]string {
	return map[string]string{"app.kubernetes.io/name": common.Name, "opcrew.io/layer": layer}
}

// NetworkPolicy returns a NetworkPolicy that restricts connections to the pods. It does not restrict connections from
// them: users who want that write their own policy.
func (id Identity) NetworkPolicy(n Network) *networkingv1ac.NetworkPolicyApplyConfiguration {
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector)).
		WithPolicyTypes(networkingv1.PolicyTypeIngress)
	own := podPeer(id.Selector)
	clients := networkingv1ac.NetworkPolicyIngressRule().WithPorts(n.Clients...)
	if len(n.Access) > 0 {
		clients.WithFrom(n.clients(own)...)
	}
	spec.WithIngress(clients)
	if len(n.Inner) > 0 {
		spec.WithIngress(networkingv1ac.NetworkPolicyIngressRule().WithPorts(n.Inner...).WithFrom(own))
	}
	if len(n.Open) > 0 {
		spec.WithIngress(networkingv1ac.NetworkPolicyIngressRule().WithPorts(n.Open...))
	}
	return networkingv1ac.NetworkPolicy(id.Name+"-network", id.Namespace).WithLabels(id.Labels).WithSpec(spec)
}

// clients returns the peers that may use the ports for clients. It is called only if Access is set, because otherwise
// anyone may use these ports.
func (n Network) clients(own *networkingv1ac.NetworkPolicyPeerApplyConfiguration) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	var out []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	for _, peer := range n.Access {
		out = append(out, podtemplate.Convert[*networkingv1ac.NetworkPolicyPeerApplyConfiguration](peer))
	}
	if len(n.Inner) > 0 {
		out = append(out, own)
	}
	for _, helper := range n.Helpers {
		out = append(out, podPeer(helper))
	}
	if n.Operator != "" {
		out = append(out, operatorPeer(n.Operator))
	}
	return out
}

// operatorPeer selects the operator's pods by namespace and label. It needs both: pods in other namespaces may have the
// same label, and other pods may run in the operator's namespace.
func operatorPeer(namespace string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return podPeer(OperatorLabels(kit.Data)).
		WithNamespaceSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: namespace}))
}

func podPeer(labels map[string]string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(labels))
}

// TCP returns TCP ports for a NetworkPolicy.
func TCP(numbers ...int32) []*networkingv1ac.NetworkPolicyPortApplyConfiguration {
	var out []*networkingv1ac.NetworkPolicyPortApplyConfiguration
	for _, number := range numbers {
		out = append(out, policyPort(number, corev1.ProtocolTCP))
	}
	return out
}

// PortsOf returns the ports that containers declare.
func PortsOf(containers []corev1.Container) []*networkingv1ac.NetworkPolicyPortApplyConfiguration {
	var out []*networkingv1ac.NetworkPolicyPortApplyConfiguration
	for _, container := range containers {
		for _, port := range container.Ports {
			out = append(out, policyPort(port.ContainerPort, port.Protocol))
		}
	}
	return out
}

func policyPort(number int32, protocol corev1.Protocol) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	if protocol == "" {
		protocol = corev1.ProtocolTCP
	}
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(number))
}
