// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the scenarios that need real nodes: placement of containers, nodes
// that crash and recover, an operator that is killed. They run on the local cluster of
// `make up`, with the deployed operator and its ServiceAccounts, and start by removing
// the samples.
//
// Tests without nodes are next to the code and use test/testenv.
package e2e
