// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot reads a snapshot from a member of an etcd cluster. It queries all members (ask.go), chooses the best
// one (choose.go), and checks the hash at the end of the stream (checked.go).
//
// Package store writes the snapshot to an object store or a folder.
package snapshot
