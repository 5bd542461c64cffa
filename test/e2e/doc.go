// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e contains the scenarios that need real nodes, such as placement of containers, node crashes and a killed
// operator. They run on the local cluster of `make up`, with the deployed operator and its ServiceAccounts, and remove
// the samples first.
//
// Tests without nodes are next to the code and use test/testenv.
package e2e
