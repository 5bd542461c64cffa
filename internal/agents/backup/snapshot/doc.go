// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot reads a snapshot of etcd from one of its members: it asks all members (ask.go),
// chooses one to read from (choose.go), and checks the hash at the end of the stream (checked.go).
//
// Storing the snapshot belongs to package store.
package snapshot
