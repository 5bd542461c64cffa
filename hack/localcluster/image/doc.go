// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image builds container images offline, without a daemon or a registry, and loads them into the nodes of the
// local cluster.
//
// An image is built from a Tree of files, which come from Go binaries or Debian packages. The same input always gives
// the same bytes: entries are sorted and times fixed, so that a digest shows whether anything has changed.
//
// The package contains the tree, the image around it, apt with separate folders, the catalogue of images, the cache of
// built images, the import into nodes, and the commands. The Makefile builds Go binaries, and package cluster starts
// nodes.
package image
