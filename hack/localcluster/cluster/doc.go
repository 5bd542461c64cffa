// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts and stops the whole cluster and reports its status: it has
// the order of the steps, their requirements, and the cleaning of leftovers. The
// package of each subject implements its steps.
package cluster
