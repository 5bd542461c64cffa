// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdstart defines the two messages between the operator and the program that starts etcd in a pod. A file in
// the pod says how the etcd member may start. The termination message of the container says why etcd does not run.
// internal/agents/etcdgate checks the volume and starts etcd.
package etcdstart
