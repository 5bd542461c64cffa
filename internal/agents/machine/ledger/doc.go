// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger records what opcrew changed on a host: for each path, unit, sysctl, user and boot entry the state that
// the host had before, what opcrew wrote, and whether the change may be incomplete. The record is on disk before the
// change begins, so the ledger names everything that may have been changed.
//
//   - Record (record.go) decides whether a state that is found on the host is one that opcrew wrote.
//   - Encode and Parse (codec.go) are the format of the file. A damaged ledger is an error, never an empty ledger:
//     otherwise the agent would take its own changes for the host's originals.
//   - Store (store.go, copies.go) holds the file and copies of original files, by their hash.
//
// The package does not compare configurations and changes nothing but its own directory.
package ledger
