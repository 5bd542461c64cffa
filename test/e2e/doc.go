// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the scenarios that need real nodes: containers that land where
// they should, nodes that crash and come back, an operator that is killed. They run
// against the local cluster that `make up` starts, with the operator in it under its
// own accounts, and begin by removing the samples.
//
// What needs no node is tested beside the code, on test/testenv.
package e2e
