// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons installs the usual add-ons of Kubernetes in a new cluster: DNS,
// resource metrics, volumes on the nodes' disks, and addresses for Services of type
// LoadBalancer.
//
// Each add-on consists of the objects in its manifest and a process on the control
// plane's machine, with its own user and the rights in the manifest. They are
// processes instead of pods so that they need no images, start at once and do not
// crash with a node. Elsewhere: starting processes (package machine), certificates
// (package pki), addresses (package network).
//
// To add one: a file here with a function that returns an addon, a manifest in
// manifests/, a line in all.
package addons
