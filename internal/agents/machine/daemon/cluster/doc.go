// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the machine agent's client of the API server. At rest its only call is a watch of the metadata of
// the agent's own Node (watch.go). It reads one Secret when an order names a new configuration (config.go), patches
// annotations of the Node (write.go), and renews its token before it expires (token.go).
//
// Credentials (credentials.go) are files in the agent's directory, which the installer writes.
package cluster
