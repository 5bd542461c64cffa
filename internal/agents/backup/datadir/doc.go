// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package datadir makes a data directory of etcd from a snapshot (make.go), starts etcd in it and
// compares its data with the record (prove.go), and moves a directory atomically to the place
// where a member expects it (place.go).
//
// etcd's own code reads the snapshot, and ends the process when the data is impossible. So a
// separate process does that (apart.go), and its end becomes an error.
//
// Where a snapshot comes from, and whether its hash is right, belongs to store and snapshot.
package datadir
