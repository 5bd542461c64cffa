// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images offline, without a daemon and without
// a registry, and loads them into the nodes of the local cluster.
//
// An image is built from a Tree of files, which comes either from Go binaries
// or from Debian packages. The same input gives the same bytes: entries are
// sorted and times fixed, so that a digest reports whether anything changed.
//
// What lives here: the tree, the image around it, apt in folders of its own,
// the list of known images, the cache of built ones, the import into nodes and
// the commands on top. What does not: building Go binaries (the Makefile) and
// starting nodes (the cluster itself).
package image
