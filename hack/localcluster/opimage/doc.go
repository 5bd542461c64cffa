// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package opimage is the operator's own three images: the operator, the agent
// in users' pods, and the program that saves and restores etcd.
//
// What lives here: how the three are named after one, how they are built from
// the programs in bin, where each goes (a registry, or the nodes of the local
// cluster), and how manifests come to name them. What does not: how an image is
// made and sent (package image) and the programs themselves (the Makefile).
package opimage
