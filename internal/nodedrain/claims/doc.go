// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claims says which part of opcrew works on a node: a rollout of MachineConfig, or an Activity of a fleet or of a
// NodePool. MachineConfig and fleets share nodes by it: neither begins on a node on which the other works. The package
// has no side effects.
package claims
