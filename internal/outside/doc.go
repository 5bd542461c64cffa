// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outside is what a process of the operator needs that runs outside of the cluster
// which it serves, as make run has it: the leases of the processes that are deployed there,
// so that the two never serve one kind at a time, and a table of what is served.
//
// What does not belong here: connections to pods (package portforward), and the operator
// itself.
package outside
