// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry is the cluster's registry of images: a service of the control plane that the nodes' container
// runtimes pull from, whatever registry an image names. It has what the catalogue of package image can make, makes
// an image when it is asked for the first time, and says at once that it has no other.
//
// What lives here: the distribution API as far as pulling needs it, the builds behind it, and the service. What does
// not: how an image is made (package image), and how a node is informed of the registry (package node).
package registry
