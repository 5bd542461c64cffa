// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e contains the tests that need real nodes, such as tests of pod placement, of node crashes and of a killed
// operator. They run on the local cluster of `make up`, with the deployed operator and its ServiceAccounts. They first
// delete the samples.
//
// Tests that need no nodes are in the packages that they test, and use package test/testenv.
package e2e
