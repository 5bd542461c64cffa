// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package netpolicy enforces NetworkPolicies. One process in the network namespace of each node watches policies, pods
// and namespaces. Whenever the resulting rules change, it replaces a table of nftables in one transaction.
//
// Nodes route the traffic of pods instead of bridging it, so all of it passes the node's hooks: forward for traffic
// between pods and from other machines, input for traffic to the node itself. Traffic from a node to its own pods, such
// as probes of the kubelet, passes neither hook, so it is always permitted, as Kubernetes requires. A new policy does
// not end existing connections.
//
// compile.go and select.go compute the rules, render.go writes them as text for nft, and agent.go watches the cluster
// and runs nft.
package netpolicy
