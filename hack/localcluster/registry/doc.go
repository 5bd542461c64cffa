// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry is the cluster's image registry, a service of the control plane. The nodes' container runtimes pull
// every image from it, even if the image's name contains another registry. It serves the catalogue of package image,
// builds an image when it is first pulled, and refuses all other images at once.
//
// This package contains the distribution API for pulling, the builds behind it, and the service. Package image builds
// images, and package node configures nodes to use the registry.
package registry
