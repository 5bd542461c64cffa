// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench counts and times operators against a floor: a bare client that makes
// the same writes to the same server, at the same concurrency, in the same run. Counts
// are exact, so those of opcrew are asserted; times are noisy, so only their ratio to
// the floor is printed.
//
// An operator under test is a driver: a binary that runs as a process and an account of
// its own, so that its calls, its memory and its work are its alone. Beside opcrew runs
// a naive controller (test/bench/naive) on the same workload; another peer is another
// entry in the list of drivers. The bare client works in the test process.
//
// Run it with `make bench`; docs/benchmarks.md has the tables. What a kind does is
// tested beside its code.
package bench
