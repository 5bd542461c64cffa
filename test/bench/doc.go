// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench counts and times the kinds against a floor: a bare client that makes
// the same writes to the same server, at the same concurrency, in the same run. Counts
// are exact, so they are asserted; times are noisy, so only their ratio is printed.
//
// Run it with `make bench`; docs/benchmarks.md has a table. What a kind does is tested
// beside its code.
package bench
