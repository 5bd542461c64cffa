// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdstart is the contract between the operator and the program that starts etcd: how a member may start, in a
// file of its pod, and why etcd does not run, in the container's termination message. internal/agents/etcdgate checks
// the volume and starts etcd.
package etcdstart
