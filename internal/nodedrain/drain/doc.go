// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package drain decides which pods of a node to evict now, and explains why others cannot be evicted. It has no side
// effects: the caller evicts the pods, and asks again when pods or PodDisruptionBudgets have changed.
//
// The package judges a PodDisruptionBudget as the API server does, so that an eviction is requested only if it is
// likely to be allowed, and so that the status can explain what blocks without a failed request. The API server
// decides.
package drain
