// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot reads a snapshot of etcd from one of its members: it queries all members (ask.go), chooses the
// member to read from (choose.go), and checks the hash at the end of the stream (checked.go).
//
// Package store stores the snapshot.
package snapshot
