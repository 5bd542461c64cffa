// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup is the contract between the operator and opcrew-backup: orders, results, the names and records of
// objects, and which objects are kept. It does no I/O and imports little, so that the operator needs neither a cloud
// SDK nor etcd's server.
//
// internal/agents/backup carries out orders, only for cmd/opcrew-backup.
//
// An object only counts as a backup with its record (Meta), a small object beside it that is written last. The record
// is not stored as metadata of the object: that would have to be sent before the first byte, but the hash is only known
// after the last. Folders have no metadata either.
//
// The operator decides when a backup is due, and which pods, volumes and Secrets an order needs.
package backup
