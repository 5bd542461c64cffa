// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package netpolicy enforces NetworkPolicies: one process in the network namespace of each node watches policies, pods and
// namespaces, and replaces a table of nftables in one transaction whenever the result changes.
//
// Pods are routed and not bridged, so that all of their traffic passes the hooks of the node: forward between pods and from other
// machines, input to the node itself. Traffic from the node to its pods, such as probes of the kubelet, passes neither hook, as
// Kubernetes requires. A connection that exists stays, whatever policies come later.
//
// The package decides in compile.go and select.go, writes the table's text in render.go, and reads and writes in agent.go.
package netpolicy
