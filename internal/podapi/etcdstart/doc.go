// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdstart is what the operator and the program in front of etcd say to each other: with what a member may
// start, which stands in a file of its pod, and why etcd does not run, which is the container's termination message.
// The program itself, which looks at the volume and starts etcd, is no part of it.
package etcdstart
