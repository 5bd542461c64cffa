// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdstart is the contract between the operator and the program that starts etcd. A file in the pod says how a
// member may start, and the container's termination message says why etcd does not run. internal/agents/etcdgate checks
// the volume and starts etcd.
package etcdstart
