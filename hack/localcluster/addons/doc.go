// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons installs the usual add-ons of Kubernetes in a new cluster: DNS,
// resource metrics, volumes on the nodes' disks, and addresses for Services of type
// LoadBalancer.
//
// Each add-on consists of the objects in its manifest, and a process on the control plane's machine with its own user
// and the rights in the manifest. It is a process instead of a pod, so that it needs no image, starts at once and does
// not crash with a node. Package machine starts processes, package pki creates certificates, and package network
// assigns addresses.
//
// To add one: a file here with a function that returns an addon, a manifest in manifests/, and a line in all.
package addons
