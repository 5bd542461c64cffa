// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Firewall says which packets for the addresses of the pool's nodes are allowed. Ports count as packets arrive at the
// node, so a rule for a NodePort names the node port. Traffic to the addresses of pods is the subject of NetworkPolicies.
type Firewall struct {
	// defaultPolicy is what happens to packets that no rule allows: Deny drops them. Allow drops only those for a port
	// that a rule names, so that rules restrict the sources of these ports. A node of several pools drops if one of them
	// says Deny. Some ports are always open: SSH (22), the API server (6443), etcd (2379-2380), the kubelet (10250), DHCP
	// and ICMP, and between nodes those of pod networks.
	// +optional
	// +kubebuilder:default=Deny
	DefaultPolicy FirewallPolicy `json:"defaultPolicy,omitempty"`

	// rules allow packets. A packet is allowed if one rule of one of the node's pools allows it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.name) || r.name == '' || self.exists_one(q, has(q.name) && q.name == r.name))",message="two rules have the same name; give each rule its own name, or none"
	Rules []FirewallRule `json:"rules,omitempty"`

	// hostFirewall is what opcrew does about firewalld or ufw on the nodes, which drop packets that opcrew allows. Open
	// opens there what the rules of this pool allow, with a privileged pod on each node, and closes it when the rules go.
	// Keep changes nothing there.
	// +optional
	// +kubebuilder:default=Keep
	HostFirewall HostFirewallPolicy `json:"hostFirewall,omitempty"`
}

// HostFirewallPolicy is what opcrew does about another firewall of the host.
// +kubebuilder:validation:Enum=Keep;Open
type HostFirewallPolicy string

// Values of HostFirewallPolicy.
const (
	HostFirewallKeep HostFirewallPolicy = "Keep"
	HostFirewallOpen HostFirewallPolicy = "Open"
)

// FirewallPolicy is what happens to packets that no rule allows.
// +kubebuilder:validation:Enum=Deny;Allow
type FirewallPolicy string

// Values of FirewallPolicy.
const (
	FirewallDeny  FirewallPolicy = "Deny"
	FirewallAllow FirewallPolicy = "Allow"
)

// FirewallRule allows packets from some sources to some ports.
type FirewallRule struct {
	// name of the rule, which nft list table inet opcrew_firewall shows on the nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a rule must be lower-case letters, digits and '-', such as web"
	Name string `json:"name,omitempty"`

	// from are the sources that the rule allows; without sources it allows all. If all sources have no addresses, such as
	// a pool without nodes, the rule allows none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	From []FirewallSource `json:"from,omitempty"`

	// ports that the rule opens; without ports it opens all ports and protocols.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Ports []FirewallPort `json:"ports,omitempty"`
}

// FirewallSource has exactly one of cidr, nodePool and node.
// +kubebuilder:validation:XValidation:rule="[has(self.cidr), has(self.nodePool), has(self.node)].filter(x, x).size() == 1",message="a source must have exactly one of cidr, nodePool and node; write one source for each"
type FirewallSource struct {
	// cidr is a range of IPv4 or IPv6 addresses, such as 10.0.0.0/8 or fd00::/8.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="cidr must be a range of addresses, such as 10.0.0.0/8 or fd00::/8; write 10.0.0.1/32 or fd00::1/128 for one address"
	// +kubebuilder:validation:XValidation:rule="!isCIDR(self) || cidr(self) == cidr(self).masked()",message="cidr must begin with the first address of its range; write 10.0.0.0/24 instead of 10.0.0.7/24, or 10.0.0.7/32 for this address"
	CIDR string `json:"cidr,omitempty"`

	// nodePool stands for the internal addresses of all nodes of a NodePool, also of those that join later.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="nodePool must be the name of a NodePool, such as gold"
	NodePool string `json:"nodePool,omitempty"`

	// node stands for the internal addresses of a Node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="node must be the name of a Node, as kubectl get nodes shows it"
	Node string `json:"node,omitempty"`
}

// FirewallPort is a port of the node, or a range of ports.
// +kubebuilder:validation:XValidation:rule="!has(self.endPort) || self.endPort >= self.port",message="endPort must not be less than port; leave endPort out for one port"
type FirewallPort struct {
	// protocol is TCP, UDP or SCTP; default TCP.
	// +optional
	// +kubebuilder:default=TCP
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol string `json:"protocol,omitempty"`

	// port is the port to which packets are sent, or the first one of a range.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// endPort is the last port of a range; default port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	EndPort *int32 `json:"endPort,omitempty"`
}

// FirewallStatus is the observed state of the pool's firewall.
type FirewallStatus struct {
	// activeNodes is the number of the pool's nodes whose kernel has the rules, as the agent on the node read them back.
	// +optional
	ActiveNodes int32 `json:"activeNodes"`
}
