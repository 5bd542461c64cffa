// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package datadir creates an etcd data directory from a snapshot (make.go). For a verification it starts etcd in the
// directory and compares the data with the backup's record (prove.go). For a restore it moves the directory atomically
// to the place where the member expects it (place.go).
//
// etcd's own code reads the snapshot, and terminates the process if the data is invalid. Therefore this code runs in a
// separate process (apart.go). If the separate process ends early, the caller gets an error.
//
// Package agent downloads the snapshot from a backup or a member, and checks its hash.
package datadir
