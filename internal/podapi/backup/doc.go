// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup is the contract between the operator and opcrew-backup: orders, results, the names
// and records of objects, and which objects are kept. It is pure and imports little, so that the
// operator needs no cloud SDK and no etcd server.
//
// internal/agents/backup carries out orders, for cmd/opcrew-backup alone.
//
// An object counts only with its record (Meta), a small object beside it that is written last. It
// is not metadata of the object, which must be known before the first byte is sent, while the hash
// is known after the last one. A folder has no metadata either.
//
// When a backup is due, and what pods, volumes and Secrets an order needs, belongs to the operator.
package backup
