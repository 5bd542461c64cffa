// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts and stops the whole cluster and reports its status. It has the order of the steps, their
// requirements and the removal of leftovers. Other packages implement the steps.
package cluster
