// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package datadir makes a data directory of etcd from a snapshot (make.go), has etcd start in it
// and compares what it holds with what was recorded (prove.go), and puts one in the place that a
// member expects it in, whole or not at all (place.go).
//
// etcd's own code reads the snapshot, and ends the process where it finds something that cannot
// be. So a process of its own does that (apart.go), and its end becomes an error.
//
// What does not live here: where a snapshot comes from, and whether its hash is right.
package datadir
