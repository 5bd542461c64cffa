// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outside serves an operator that runs outside the cluster, such as with make run. The process acquires the
// leader election leases of the deployed processes, so that two processes never serve the same kind. It also prints a
// table of the served kinds. Package portforward connects such a process to pods.
package outside
