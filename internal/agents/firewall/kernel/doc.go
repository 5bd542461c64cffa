// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package kernel writes the firewall table of a node with netlink, and reads it back. The table is opcrew's own: it is
// replaced as a whole in one transaction, and no other table is changed.
//
// The chain sees packets as they arrive, after conntrack and before DNAT. So the port of a NodePort counts, and not the
// port of its pod. Packets that are not for an address of the node, such as those for pods, pass.
package kernel
