// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup is the language of etcd backups: what is ordered, what became of it, what
// objects are called, what is recorded of each, and which ones are kept. All of it is pure
// and imports little, so that the operator can speak it without a cloud SDK or an etcd server.
//
// What carries an order out lives below, for cmd/opcrew-backup alone: store has the places
// where snapshots are kept, snapshot reads one from a cluster, datadir makes a data directory
// of one and proves that etcd starts with it, and agent puts these together.
//
// An object counts only with its record (Meta), a small object beside it that is written last.
// It is not metadata of the object itself: that has to be known before the first byte is sent,
// and a hash of the stream is known after the last one; and a folder has no place for it.
//
// What does not live here: when a backup is due, and what pods, volumes and Secrets an order
// needs. That belongs to the operator.
package backup
