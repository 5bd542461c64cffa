// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot reads a snapshot of etcd from one of its members: it asks all of them
// (ask.go), chooses whom to read from (choose.go), and checks the hash at the end of a stream
// while it goes by (checked.go).
//
// What does not live here: where the snapshot goes.
package snapshot
