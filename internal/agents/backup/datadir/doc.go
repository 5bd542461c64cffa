// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package datadir makes a data directory of etcd from a snapshot (make.go), starts etcd in it and compares its data
// with the record (prove.go), and moves the directory atomically to the place where a member expects it (place.go).
//
// etcd's own code reads the snapshot, and terminates the process if the data is impossible. Therefore a separate
// process does that (apart.go), and its end becomes an error.
//
// Packages store and snapshot fetch the snapshot, and check its hash.
package datadir
