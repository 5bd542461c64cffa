// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the client of the firewall agent: it watches the ConfigMaps of the agents' namespace, writes one
// annotation of its Node, and measures whether new connections reach the API server. It needs no other rights.
package cluster
