// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images offline, without a daemon and without
// a registry, and loads them into the nodes of the local cluster.
//
// An image is built from a Tree of files, which comes either from Go binaries
// or from Debian packages. The same input gives the same bytes: entries are
// sorted and times fixed, so that a digest reports whether anything changed.
//
// This package has the tree, the image around it, apt with separate folders, the list
// of known images, the cache of built ones, the import into nodes and the commands.
// Elsewhere: building Go binaries (the Makefile) and starting nodes (package cluster).
package image
