// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addons puts into a new cluster what every Kubernetes is expected to
// have and the control plane does not bring: DNS, resource metrics, volumes on
// the nodes' disks and addresses for Services of type LoadBalancer.
//
// Each add-on is a process on the control plane's machine with a user of its
// own that may do only what its manifest grants, and the objects of that
// manifest. They are processes and not pods so that they need no images, start
// at once and do not crash with a node. What is not here: starting processes
// (package machine), certificates (package pki), addresses (package network).
//
// To add one: a file here with a function that returns an addon, a manifest in
// manifests/, a line in all.
package addons
