// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outside supports an operator process that runs outside the cluster, for example after make run. The process
// acquires the leader election leases of the deployed processes, so that two processes never reconcile the same kind.
// The package also prints which kinds the process reconciles. Package portforward connects the process to pods.
package outside
