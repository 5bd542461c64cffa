// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package drift finds and judges changes that other programs or users made to what opcrew wrote on a host.
//
//   - Scan (scan.go) compares the ledger with observed states.
//   - Decide (decide.go) applies the policy of the pool: report, repair or adopt. A program that undoes several repairs
//     wins the contest: opcrew stops and reports it.
//   - Watcher (watch.go) reports when something changes beside a path of the ledger, so that a scan can follow at once.
//
// Apart from the Watcher, the package is pure. A repair is an application of the current configuration (package apply).
package drift
