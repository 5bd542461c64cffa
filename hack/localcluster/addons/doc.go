// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons installs the usual add-ons of Kubernetes in a new cluster: DNS, resource metrics, volumes on the
// nodes' disks, and addresses for Services of type LoadBalancer.
//
// Each add-on consists of the objects in its manifest, and a process on the control plane's machine with its own user
// and the rights in the manifest. An add-on runs as a process and not as a pod, so that it needs no image, starts at
// once and does not crash with a node. Package machine starts processes, package pki creates certificates, and package
// network assigns addresses.
//
// To add an add-on, write a function that returns an addon, add a manifest to manifests/, and add the function to the
// list in all.
package addons
