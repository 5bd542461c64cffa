// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup defines the orders that the operator gives to the program opcrew-backup, and the results that it
// reports. It also defines the names and records of stored objects, and which backups to keep. It does no I/O, so that
// the operator needs no cloud SDK and no etcd server code.
//
// Package internal/agents/backup, which only cmd/opcrew-backup imports, carries out the orders.
//
// An object counts as a backup only if it has a record (Meta): a small object next to it, which is written last. Object
// metadata could not hold the record, because it must be sent before the first byte, but the hash is known only after
// the last byte. Files in a folder have no metadata at all.
//
// The operator decides when a backup is due, and which pod, volumes and Secrets carry out an order.
package backup
