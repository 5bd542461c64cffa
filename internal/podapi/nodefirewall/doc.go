// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodefirewall is what the operator and the firewall agents on nodes exchange: the rules of a pool and the
// addresses of nodes, each in a ConfigMap, and the report of an agent in an annotation of its Node. It has formats and
// constants only.
package nodefirewall

const (
	// Namespace has the agents, and the ConfigMaps that they read.
	Namespace = "opcrew-firewall"
	// Name is the name of the DaemonSet and of its account.
	Name = "opcrew-firewall"
	// Label marks the ConfigMaps that agents read.
	Label = "opcrew.io/firewall"
	// Key is the key of the document in a ConfigMap.
	Key = "rules.json"
	// NodesMap is the name of the ConfigMap with the addresses of all nodes.
	NodesMap = "nodes"
	// ReportAnnotation is the annotation of a Node with the report of its agent. Only the agent writes it.
	ReportAnnotation = "opcrew.io/firewall"
	// StateDir is the directory on the host in which the agent keeps its state.
	StateDir = "/var/lib/opcrew-firewall"
	// Table is the nftables table, of family inet, that the agent owns.
	Table = "opcrew_firewall"
)

// PoolMap returns the name of the ConfigMap with the rules of a pool.
func PoolMap(pool string) string { return "pool-" + pool }
