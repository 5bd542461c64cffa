// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fleet describes the nodes and pools of a cluster to the rules of package rollout: which pools select a node,
// what its annotations say, who cordoned it, and whether it meets the health gate of its pool. It has no side effects.
package fleet
