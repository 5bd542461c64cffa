// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outside is for an operator that runs outside the cluster, as with make run. It acquires the leases of the
// deployed processes, so that two processes never serve the same kind, and prints a table of the kinds that are served.
// Package portforward connects to pods.
package outside
