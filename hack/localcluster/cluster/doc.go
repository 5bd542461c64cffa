// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts and stops the whole cluster and reports its status. It defines the order of the steps and
// checks their requirements. It also removes what an earlier cluster has left behind. Other packages implement the
// steps.
package cluster
