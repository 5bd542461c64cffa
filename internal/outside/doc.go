// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package outside has what the operator needs when it runs outside of the cluster that it serves, as with make run:
// the leases of the deployed processes, so that two processes never serve one kind, and a table of what is served.
// Connections to pods belong to package portforward.
package outside
